import { number } from './option-kinds.js'

/** Connections of one load, well within what a process may open. */
export const CALLERS_MAX = 4_096

/** Creating a wallet takes both domains some milliseconds. */
export const WALLETS = number('wallets that send, a key each', {
  steps: 'whole',
  min: 1,
  max: 10_000,
  byDefault: 128,
})
