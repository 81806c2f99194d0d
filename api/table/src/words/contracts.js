// The contracts of Lorum, as a player is told them.

export const CONTRACTS = {
  hearts: { title: "Hearts", words: "Every heart taken costs 1." },
  obers: {
    title: "Obers",
    words: "The Ober of acorns costs 1, of leaves 2, of bells 3, of hearts 4.",
  },
  no_tricks: { title: "No tricks", words: "Every trick taken costs 1." },
  quads: {
    title: "Quads",
    words:
      "Up to four cards of a suit in order; who plays the last leads again. Out first is paid for every card left.",
  },
  fast_train: {
    title: "Fast train",
    words: "One rank higher every time, whatever the suit. Out first is paid for every card left.",
  },
  hairy_monkey: { title: "Hairy monkey", words: "The king of hearts costs 10." },
  lorum: {
    title: "Lorum",
    words:
      "Four suits from one rank on, round the corner. Who cannot play pays 1; out first takes the pot.",
  },
};
