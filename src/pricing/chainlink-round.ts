import type { Hex } from '../domain/ids.js'
import type { PriceGap } from './price-source.js'

/** Reads `latestRoundData` of Chainlink aggregators, and decides whether to accept it. */
export interface Round {
  readonly roundId: bigint
  readonly answer: bigint
  /** Unix seconds. For a sequencer feed: the start of its present status. */
  readonly startedAtS: number
  /** Unix seconds. */
  readonly updatedAtS: number
  readonly answeredInRound: bigint
}

const ROUND_CHARS = 2 + 5 * 64
const SIGN_BIT = 1n << 255n
const WORD = 1n << 256n

/** @returns null when the answer is not five ABI words with plausible times */
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

/** An accepted answer and the time of its acceptance. */
export interface Accepted {
  readonly answer: bigint
  readonly acceptedAtMs: number
}

/** A move of more than half within this time is held back until it has lasted as long. */
const MOVE_WINDOW_MS = 60_000

/**
 * Whether a round is a price.
 * @param last the last accepted answer, or null
 * @returns null when it is a price, otherwise why not
 */
export function gapOfRound(round: Round, last: Accepted | null, nowMs: number): PriceGap | null {
  if (round.answer <= 0n || round.updatedAtS === 0) return 'feed-invalid'
  // The oracles of this round did not answer; the answer is carried over from an earlier one.
  if (round.answeredInRound < round.roundId) return 'feed-invalid'
  if (last === null || nowMs - last.acceptedAtMs >= MOVE_WINDOW_MS) return null
  const move = round.answer > last.answer ? round.answer - last.answer : last.answer - round.answer
  return move * 2n > last.answer ? 'implausible-move' : null
}

/** Chainlink's advice for L2s: prices right after an outage may predate it. */
const SEQUENCER_GRACE_S = 3_600

/** Whether the L2 sequencer uptime feed permits using prices; null when it does. */
export function gapOfSequencer(round: Round | null, nowMs: number): PriceGap | null {
  // Zero: the feed's proxy has no message from L1 yet, so nothing is known.
  if (round === null || round.startedAtS === 0) return 'feed-unreachable'
  if (round.answer !== 0n) return 'sequencer-down'
  return nowMs / 1_000 - round.startedAtS < SEQUENCER_GRACE_S ? 'sequencer-recovering' : null
}
