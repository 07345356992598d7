import { toChecksumAddress } from '../../api/parse-address.js'
import type { ChainAccess } from '../../chains/access.js'
import type { AllowanceEntry } from '../../domain/allowance.js'
import type { Address } from '../../domain/ids.js'
import { formatUsd, valueUsdMicros } from '../../domain/money.js'
import { fault } from '../../errors/fault.js'
import { isKnown } from '../../pricing/price-source.js'
import { type LiveAllowance, readLiveAllowances } from '../../valuation/live-allowances.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

const MS_PER_SECOND = 1_000

export function getAllowances(ports: OperationPorts): AgentHandlers['get_allowances'] {
  return ({ key }, { chain_id }) => {
    const owner = ports.reader.fresh().wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    return readAllowances(ports, owner, chain_id)
  }
}

/** Newest first. Approvals still on their way to the chain do not stand there yet. */
export function readAllowances(ports: OperationPorts, owner: Address, chainId: number) {
  const { reader, nowMs } = ports
  return answerFromChain(ports, chainId, async (chain) => {
    const entries = [...reader.allowances.ofWallet(owner, chainId)].sort(newestFirst)
    const nowSeconds = Math.floor(nowMs() / MS_PER_SECOND)
    const live = await readLiveAllowances(chain, owner, entries, nowSeconds)
    const worthOf = await worthAtOwner(ports, chain, owner, live)
    return {
      ok: true,
      value: {
        chain_id: chainId,
        allowances: live.map((allowance) => viewOf(allowance, worthOf(allowance))),
        complete: reader.allowances.ledger(owner)?.complete ?? false,
      },
    }
  })
}

function newestFirst(a: AllowanceEntry, b: AllowanceEntry): number {
  return a.txId < b.txId ? 1 : Number(a.txId > b.txId) * -1
}

function viewOf({ entry, amount }: LiveAllowance, usdValue: string | null) {
  return {
    token: entry.token,
    spender: entry.spender,
    kind: entry.kind,
    amount: amount === null ? null : amount.toString(),
    usd_value: usdValue,
    token_id: entry.tokenId === null ? null : entry.tokenId.toString(),
    tx_id: entry.txId,
  }
}

/**
 * What an approval could take now. Spec silent: the smaller of amount and balance; that it may take
 * later what comes in later was counted when it was made.
 */
async function worthAtOwner(
  { prices }: OperationPorts,
  { config, reads }: ChainAccess,
  owner: Address,
  live: readonly LiveAllowance[],
): Promise<(allowance: LiveAllowance) => string | null> {
  const approved = new Set(live.map(({ entry }) => entry.token.toLowerCase()))
  const tokens = config.tokens
    .map(({ address, decimals }) => ({ address: toChecksumAddress(address), decimals }))
    .filter(({ address }) => approved.has(address.toLowerCase()))
  const [balances, quotes] = await Promise.all([
    tokens.length === 0
      ? []
      : reads.tokenBalances(
          tokens.map(({ address }) => address),
          owner,
        ),
    Promise.all(tokens.map(({ address }) => prices.price(config.id, address))),
  ])
  const usdOf = new Map(
    tokens.map(({ address, decimals }, i) => [
      address.toLowerCase(),
      (amount: bigint): string | null => {
        const [balance, price] = [balances[i] ?? null, quotes[i]]
        if (price === undefined || !isKnown(price)) return null
        const reachable = balance !== null && balance < amount ? balance : amount
        return formatUsd(valueUsdMicros(reachable, decimals, price.value, price.decimals))
      },
    ]),
  )
  return ({ entry, amount }) => {
    const isAmount = entry.kind === 'erc20' || entry.kind === 'permit2'
    if (!isAmount || typeof amount !== 'bigint') return null
    return usdOf.get(entry.token.toLowerCase())?.(amount) ?? null
  }
}
