import { subWalletAddress } from '../../../actors/addresses.js'
import type { SponsorCommand } from '../../../actors/sub-wallet/core/sponsored-messages.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { TransactionView } from '../../api/transaction.js'
import type { ChainAccess } from '../../chains/access.js'
import { type Plan, quoteOf } from '../../defi/plan.js'
import { type Address, ID_PREFIX, type TxId } from '../../domain/ids.js'
import { type Fault, fault, ok, type Result, refuse } from '../../errors/fault.js'
import { unknownCall } from '../../errors/outcome-unknown.js'
import { newId } from '../../store/new-id.js'
import { answerOfSend } from '../agent/send-transaction.js'
import type { AgentContext, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** A chain with a Router, the first condition of sponsored calls. */
export interface SponsoredChain {
  readonly chain: ChainAccess
  readonly router: Address
  readonly delegate: Address
}

/** @returns refusals: `ROUTER_NOT_AVAILABLE`, `CHAIN_NOT_ALLOWED` */
export function sponsoredChain(
  { chains, hasRouter }: OperationPorts,
  { key }: AgentContext,
  chainId: number,
): Result<SponsoredChain> {
  const chain = chains.get(chainId)
  if (chain === undefined || !key.allowedChains.includes(chainId)) {
    return refuse(fault('CHAIN_NOT_ALLOWED', { chain_id: chainId }))
  }
  const { router, delegate } = chain.config
  if (router === null || delegate === null || !hasRouter(chainId)) {
    return refuse(fault('ROUTER_NOT_AVAILABLE', { chain_id: chainId }))
  }
  const addresses = { router: toChecksumAddress(router), delegate: toChecksumAddress(delegate) }
  return ok({ chain, ...addresses })
}

/** Plans a call and passes it to the sub-wallet's actor, which caps, screens and signs it. */
export async function sponsorCall(
  ports: OperationPorts,
  context: AgentContext,
  on: SponsoredChain,
  request: Pick<SponsorCommand, 'kind' | 'fingerprint' | 'executes'>,
  plan: () => Promise<Result<Plan>>,
): Promise<Answer<TransactionView>> {
  const quote = await quoteOf(ports, on.chain, plan)
  const { chain, router, delegate } = on
  return hand(ports, context, { chainId: chain.config.id, ...request, router, delegate, quote })
}

/**
 * A swap by a quote that is no longer kept. If the request, or another one by the same quote, came
 * before, it gets the same answer. The actor also knows a call under way that the store may not
 * have yet.
 */
export async function sponsorForgotten(
  ports: OperationPorts,
  context: AgentContext,
  quoteId: string,
  forgotten: Fault,
): Promise<Answer<TransactionView>> {
  const quote = { ok: false, fault: forgotten } as const
  const swap = { kind: 'swap', fingerprint: 'swap', quote, isForgotten: true } as const
  const call = { ...NOWHERE, ...swap, executes: { lineageId: context.key.lineageId, quoteId } }
  return hand(ports, context, call)
}

const NOBODY: Address = '0x0000000000000000000000000000000000000000'
const NOWHERE = { chainId: 0, router: NOBODY, delegate: NOBODY } as const

type OfContext = 'proofKey' | 'idempotency' | 'guardsDuplicates'

async function hand(
  ports: OperationPorts,
  { key, requestId, proofKey, idempotency, guardsDuplicates }: AgentContext,
  call: Omit<SponsorCommand, 'type' | 'txId' | 'requestId' | 'keyId' | OfContext>,
): Promise<Answer<TransactionView>> {
  const command: SponsorCommand = {
    type: 'sponsor-call',
    txId: newId<TxId>(ID_PREFIX.tx, ports.timers),
    requestId,
    keyId: key.keyId,
    ...call,
    proofKey,
    idempotency,
    guardsDuplicates,
  }
  const answer = await ports.actors.ask(subWalletAddress(key), command)
  if (!answer.ok) return refuse(unknownCall(answer.fault, command.txId, idempotency !== null))
  return answerOfSend(answer, ports.answeredSends)
}
