import type { ChainAccess } from '../chains/access.js'
import type { SimulatedApproval, Simulation, StateAfter } from '../chains/simulate/simulation.js'
import { addressWord, uintAt } from '../contracts/abi-words.js'
import { ALLOWANCE, PERMIT2_ALLOWANCE } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import { openedByOthers, type ResidualAllowanceOf } from './outflow.js'
import type { QuotedCall } from './quoter.js'
import { PERMIT2, UINT256_MAX } from './well-known.js'

/** More than any router's allowances in one call; further ones count as unused. */
const ASKED_MAX = 64

/**
 * A third contract may give an allowance to one address and pay another, or the wallet, the same
 * amount in the same call: in the logs the allowance then looks used. So the tokens are asked what
 * remains after the call.
 *
 * Spec silent: when no endpoint can simulate reads after a call, only the logs remain.
 * @param state the state that the call was simulated on; null for the newest block
 * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers
 */
export async function residualAllowancesAfter(
  chain: ChainAccess,
  call: QuotedCall,
  simulation: Simulation | null,
  state: StateAfter | null,
  gasLimit: bigint,
): Promise<ResidualAllowanceOf | undefined> {
  const asked: SimulatedApproval[] = []
  openedByOthers(call, simulation, (approval) => {
    asked.push(approval)
    return null
  })
  if (asked.length === 0) return undefined
  const block = state?.block ?? (await chain.reads.block('latest'))?.number
  if (block === undefined) return undefined
  const { from, to, data, value } = call
  const earlier = [...(state?.earlier ?? []), { to, data, value, gasLimit }]
  const listed = asked.slice(0, ASKED_MAX)
  const answers = await chain.simulator.readAfter({ from, block, earlier }, listed.map(readOf))
  if (answers === null) return undefined
  const open = new Map<string, bigint>()
  listed.forEach((approval, i) => {
    const answer = answers[i]
    const amount = typeof answer === 'string' ? uintAt(answer as Hex, 0) : null
    if (amount !== null) open.set(keyOf(approval), amount)
  })
  return (approval) => open.get(keyOf(approval)) ?? UINT256_MAX
}

function readOf({ owner, token, spender, kind }: SimulatedApproval): { to: Address; data: Hex } {
  const [who, whom] = [addressWord(owner), addressWord(spender)]
  if (kind !== 'permit2') return { to: token, data: `${ALLOWANCE}${who}${whom}` }
  return { to: PERMIT2, data: `${PERMIT2_ALLOWANCE}${who}${addressWord(token)}${whom}` }
}

function keyOf({ owner, token, spender, kind }: SimulatedApproval): string {
  return `${owner}${token}${spender}${kind}`
}
