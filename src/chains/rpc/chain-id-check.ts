import type { ChainIdNews } from './types.js'

/**
 * Whether an endpoint serves the chain that it is configured for. One wrong answer proves nothing:
 * a gateway answers `0x0` while its node starts, or reaches a node of another chain for a moment.
 * So the endpoint is checked again after a growing pause, and comes back by itself. Pure state; the
 * owner sends the requests.
 */
interface ChainIdCheck {
  /** @returns what the answer changes; `same` for nothing */
  hear(answer: unknown, nowMs: number): ChainIdNews | 'same'
  /** True during the pause after it named another chain. */
  isResting(nowMs: number): boolean
}

const PAUSE_MS_MIN = 1_000
/**
 * A node that was moved to another chain by mistake is noticed within this time once it is
 * corrected.
 */
const PAUSE_MS_MAX = 60_000
/** A passing wrong answer costs a few seconds at most. */
const PAUSE_MS_OF_DOUBT_MAX = 4_000

export function createChainIdCheck(chainId: number): ChainIdCheck {
  let others = 0
  let wrongOnes = 0
  let restingUntilMs = 0
  return {
    hear(answer, nowMs) {
      if (isIdOf(answer, chainId)) {
        const wasDoubted = others > 0
        others = 0
        wrongOnes = 0
        restingUntilMs = 0
        return wasDoubted ? 'right' : 'same'
      }
      others++
      if (isId(answer)) wrongOnes++
      const longestMs = wrongOnes > 1 ? PAUSE_MS_MAX : PAUSE_MS_OF_DOUBT_MAX
      restingUntilMs = nowMs + Math.min(longestMs, PAUSE_MS_MIN * 2 ** Math.min(others - 1, 10))
      if (isId(answer) && wrongOnes === 2) return 'wrong'
      return others === 1 ? 'doubted' : 'same'
    },
    isResting: (nowMs) => nowMs < restingUntilMs,
  }
}

function isIdOf(answer: unknown, chainId: number): boolean {
  return isId(answer) && Number(answer) === chainId
}

/** Some nodes answer with a number, or with digits without a prefix. */
function isId(answer: unknown): boolean {
  const id = typeof answer === 'string' && answer !== '' ? Number(answer) : answer
  return Number.isSafeInteger(id) && (id as number) > 0
}
