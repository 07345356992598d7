import type { Hex } from '../domain/ids.js'
import type { PriceGap } from './price-source.js'

/** Reading `latestRoundData` of Chainlink aggregators, and deciding whether to believe it. */
export interface Round {
  readonly roundId: bigint
  readonly answer: bigint
  /** Unix seconds. On a sequencer feed: since when the status holds. */
  readonly startedAtS: number
  /** Unix seconds. */
  readonly updatedAtS: number
  readonly answeredInRound: bigint
}

const ROUND_CHARS = 2 + 5 * 64
const SIGN_BIT = 1n << 255n
const WORD = 1n << 256n

/** @returns null when the answer is not five ABI words with times that make sense */
export function decodeRound(value: unknown): Round | null {
  if (typeof value !== 'string' || value.length !== ROUND_CHARS) return null
  if (!/^0x[0-9a-fA-F]+$/.test(value)) return null
  const data = value as Hex
  const word = (index: number) => BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`)
  const raw = word(1)
  const startedAtS = Number(word(2))
  const updatedAtS = Number(word(3))
  if (!Number.isSafeInteger(startedAtS * 1_000) || !Number.isSafeInteger(updatedAtS * 1_000)) {
    return null
  }
  return {
    roundId: word(0),
    answer: raw >= SIGN_BIT ? raw - WORD : raw,
    startedAtS,
    updatedAtS,
    answeredInRound: word(4),
  }
}

/** An answer that was believed, and when that was. */
export interface Accepted {
  readonly answer: bigint
  readonly acceptedAtMs: number
}

/** A move of more than half within this time is held back until it has lasted as long. */
const MOVE_WINDOW_MS = 60_000

/**
 * Whether a round is a price.
 * @param last the answer believed before, or null
 * @returns null when it is; else why not
 */
export function gapOfRound(round: Round, last: Accepted | null, nowMs: number): PriceGap | null {
  if (round.answer <= 0n || round.updatedAtS === 0) return 'feed-invalid'
  // A round carried over from an earlier one was not answered by this round's oracles.
  if (round.answeredInRound < round.roundId) return 'feed-invalid'
  if (last === null || nowMs - last.acceptedAtMs >= MOVE_WINDOW_MS) return null
  const move = round.answer > last.answer ? round.answer - last.answer : last.answer - round.answer
  return move * 2n > last.answer ? 'implausible-move' : null
}

/** Chainlink's advice for L2s: prices right after an outage may be from before it. */
const SEQUENCER_GRACE_S = 3_600

/** Whether the L2 sequencer uptime feed lets prices be used; null when it does. */
export function gapOfSequencer(round: Round | null, nowMs: number): PriceGap | null {
  // Zero: the feed's proxy has not heard from L1 yet, so nothing is known.
  if (round === null || round.startedAtS === 0) return 'feed-unreachable'
  if (round.answer !== 0n) return 'sequencer-down'
  return nowMs / 1_000 - round.startedAtS < SEQUENCER_GRACE_S ? 'sequencer-recovering' : null
}
