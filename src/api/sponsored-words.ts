/** What callers have to know of an account that made a sponsored call, for each document alike. */
export const ONE_AT_A_TIME =
  'The first sponsored call (swap, deposit, withdrawal, gas swap) delegates the account on that chain (EIP-7702), and nodes take one pending transaction at a time from a delegated account. Later sends are signed at once and wait their turn: they answer `202` with status `signed`, and `queued_behind` names the transaction before them. Sponsored calls themselves are not held up. Wait for `confirmed` between sends, or pay from a wallet that makes no sponsored calls.'
