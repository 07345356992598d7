import type { CallShown, Move } from './call-shown.js'
import type { Ceiling, Policy, Token } from './policy.js'

/** Units that count in a UTC day and month, by chain and token. */
export interface UnitsTaken {
  readonly chainId: number
  readonly token: Token
  readonly amount: bigint
}

/**
 * What a call takes of a policy's ceilings.
 * @returns null where a ceiling of its chain cannot be judged; what its bytes do not show could be
 * units of it
 */
export function unitsTaken(policy: Policy, call: CallShown): readonly UnitsTaken[] | null {
  const { ceilings } = policy
  if (ceilings.length === 0) return NOTHING
  const tokens = new Set<Token>()
  for (const { chainId, token } of ceilings) if (chainId === call.chainId) tokens.add(token)
  if (tokens.size === 0) return NOTHING
  if (call.moves === null) return null
  const taken: UnitsTaken[] = []
  for (const token of tokens) {
    const amount = amountOf(call.moves, token)
    if (amount > 0n) taken.push({ chainId: call.chainId, token, amount })
  }
  return taken
}

export interface CeilingBreach {
  readonly ceiling: Ceiling
  readonly used: bigint
  readonly requested: bigint
}

/** @param usedOf what has gone in the window that is open now */
export function ceilingBreach(
  policy: Policy,
  taken: readonly UnitsTaken[],
  usedOf: (ceiling: Ceiling) => bigint,
): CeilingBreach | null {
  for (const { chainId, token, amount } of taken) {
    for (const ceiling of policy.ceilings) {
      if (ceiling.chainId !== chainId || ceiling.token !== token) continue
      const used = usedOf(ceiling)
      if (used + amount > ceiling.amount) return { ceiling, used, requested: amount }
    }
  }
  return null
}

const NOTHING: readonly UnitsTaken[] = []

function amountOf(moves: readonly Move[], token: Token): bigint {
  let amount = 0n
  for (const move of moves) if (move.token === token) amount += move.amount
  return amount
}
