"""What Fairdeal is measured against, as small as it can be written."""
