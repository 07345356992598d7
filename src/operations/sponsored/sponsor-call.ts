import { subWalletAddress } from '../../../actors/addresses.js'
import type {
  SponsorCommand,
  SponsoredQuote,
} from '../../../actors/sub-wallet/core/sponsored-messages.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { TransactionView } from '../../api/transaction.js'
import type { ChainAccess } from '../../chains/access.js'
import { type Address, ID_PREFIX, type TxId } from '../../domain/ids.js'
import type { IntentTerms, PartyNamed } from '../../domain/sponsored-terms.js'
import type { SponsoredKind } from '../../domain/sponsorship.js'
import { type Fault, FaultError, fault, ok, type Result, refuse } from '../../errors/fault.js'
import { insufficientFunds } from '../../errors/insufficient-funds.js'
import { isKnown } from '../../pricing/price-source.js'
import { newId } from '../../store/new-id.js'
import { answerOfSend } from '../agent/send-transaction.js'
import type { AgentContext, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'
import type { InputValue } from './input-value.js'

/** A chain with a Router; what sponsored calls ask for before anything else. */
export interface SponsoredChain {
  readonly chain: ChainAccess
  readonly router: Address
  readonly delegate: Address
}

/** Where a sponsored call is between its request and its actor. */
export interface Plan {
  readonly value: InputValue
  /** What is to be signed, or why it cannot be; answered after limit and screening. */
  readonly terms: Result<IntentTerms>
  readonly parties: readonly PartyNamed[]
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

/** Plans a call and hands it to the sub-wallet's actor, which caps, screens and signs it. */
export async function sponsorCall(
  ports: OperationPorts,
  context: AgentContext,
  on: SponsoredChain,
  request: { readonly kind: SponsoredKind; readonly fingerprint: string },
  plan: () => Promise<Result<Plan>>,
): Promise<Answer<TransactionView>> {
  const { key, requestId, proofKey, idempotency } = context
  const { chain, router, delegate } = on
  const command: SponsorCommand = {
    type: 'sponsor-call',
    txId: newId<TxId>(ID_PREFIX.tx, ports.timers),
    requestId,
    keyId: key.keyId,
    chainId: chain.config.id,
    ...request,
    router,
    delegate,
    quote: await quoteOf(ports, chain, plan),
    proofKey,
    idempotency,
  }
  const answer = await ports.actors.ask(subWalletAddress(key), command)
  return answerOfSend(answer, ports.answeredSends)
}

async function quoteOf(
  { prices }: OperationPorts,
  { config }: ChainAccess,
  plan: () => Promise<Result<Plan>>,
): Promise<SponsoredQuote> {
  try {
    const [planned, native] = await Promise.all([plan(), prices.price(config.id, 'native')])
    if (!planned.ok) return planned
    if (!isKnown(native)) {
      const details = { chain_id: config.id, reason: native.unavailable }
      return { ok: false, fault: fault('PRICE_UNAVAILABLE', details) }
    }
    const { value, terms, parties } = planned.value
    return {
      ok: true,
      valuation: {
        valueMicros: value.micros,
        gasMicros: 0n,
        nativePrice: native.value,
        nativePriceDecimals: native.decimals,
      },
      unpriced: value.unpriced,
      terms,
      parties,
    }
  } catch (error) {
    return { ok: false, fault: chainFault(error, config.id) }
  }
}

function chainFault(error: unknown, chainId: number): Fault {
  if (error instanceof FaultError) return error.fault
  const why = error instanceof Error ? error.message : 'the chain did not answer'
  return fault('CHAIN_UNAVAILABLE', { chain_id: chainId }, undefined, why)
}

/** Null when the account holds the amount. */
export async function lackOf(
  { reads }: ChainAccess,
  token: Address | 'native',
  owner: Address,
  amount: bigint,
): Promise<Fault | null> {
  const balance =
    token === 'native' ? await reads.nativeBalance(owner) : await reads.tokenBalance(token, owner)
  if (balance >= amount) return null
  return insufficientFunds({
    token: token === 'native' ? null : token,
    have: balance,
    need: amount,
  })
}
