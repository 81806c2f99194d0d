"""The API as an attacker finds it: who is let in to what, and what hostile requests do."""
