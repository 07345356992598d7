import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import type { SponsoredKind } from '../domain/sponsorship.js'
import { fault, type Result, refuse } from '../errors/fault.js'
import type { SponsoredQuote } from '../valuation/sponsored-quote.js'
import { type Plan, type PlanPorts, quoteOf } from './plan.js'
import { planSwap } from './plan-swap.js'
import { planDeposit, planWithdrawal } from './plan-vault.js'

/** A sponsored call in the terms that people were asked to approve. */
export interface AskedTerms {
  readonly kind: SponsoredKind
  /** The sub-wallet's address. */
  readonly account: Address
  readonly router: Address
  readonly terms: IntentTerms
  /** The venue's offer at that time, in smallest units of the output. */
  readonly offered: bigint
  /** The bound of the key and of those above it, basis points; null when unbounded. */
  readonly maxLossBps: number | null
}

/**
 * Gets the venue's present offer for a call that waited for approval, planned like its request: the
 * same input, and a minimum as far below the offer as the approved one was. Never rejects.
 */
export type Replan = (chain: ChainAccess, asked: AskedTerms) => Promise<SponsoredQuote>

export function createReplan(ports: ReplanPorts): Replan {
  return (chain, asked) => quoteOf(ports, chain, () => planAgain(ports, chain, asked))
}

interface ReplanPorts extends PlanPorts {
  /** Whether the chain's configured Router was verified to be exactly ours. */
  readonly hasRouter: (chainId: number) => boolean
}

async function planAgain(
  ports: ReplanPorts,
  chain: ChainAccess,
  { kind, account, router, terms, offered, maxLossBps }: AskedTerms,
): Promise<Result<Plan>> {
  const { id: chainId, router: present } = chain.config
  // People approved a call to one Router, and the configuration may name another by now.
  if (present?.toLowerCase() !== router.toLowerCase() || !ports.hasRouter(chainId)) {
    return refuse(fault('ROUTER_NOT_AVAILABLE', { chain_id: chainId }))
  }
  const { tokenIn, tokenOut, amountIn, minOut } = terms
  if (kind === 'defi_deposit' || kind === 'defi_withdraw') {
    return planVaultAgain(ports, chain, kind, { account, router, terms, maxLossBps })
  }
  const minOutOf = (amountOut: bigint) => {
    const least = (amountOut * minOut) / (offered > 0n ? offered : 1n)
    return least > 0n ? least : 1n
  }
  const least = { minOutOf, slippageBps: null, maxLossBps }
  return planSwap(ports, chain, account, { tokenIn, tokenOut, amountIn }, least)
}

async function planVaultAgain(
  ports: PlanPorts,
  chain: ChainAccess,
  kind: 'defi_deposit' | 'defi_withdraw',
  { account, router, terms, maxLossBps }: Omit<AskedTerms, 'kind' | 'offered'>,
): Promise<Result<Plan>> {
  const { target: vault, amountIn } = terms
  const state = await ports.vaultVenue.read(chain, vault, account)
  if (state === null) return refuse(fault('CHAIN_UNAVAILABLE', { chain_id: chain.config.id }))
  const market = { chain, vault, state }
  if (kind === 'defi_deposit') return planDeposit(ports, market, account, amountIn, maxLossBps)
  return planWithdrawal(ports, market, account, router, amountIn, maxLossBps)
}
