import { Gauge, type Registry } from 'prom-client'
import type { Chains } from '../chains/access.js'
import type { Address } from '../domain/ids.js'

/** Monitors the balances of gas wallets: without funds sponsored calls stop on that chain. */
interface GasBalances {
  readings(): readonly GasReading[]
  close(): void
}

export interface GasReading extends WatchedGasWallet {
  /** Null until it was first read; an older reading when the last read failed. */
  readonly seen: {
    readonly wei: bigint
    /** Below this balance, at the gas price of that time, the wallet needs a top-up. */
    readonly lowBelowWei: bigint
    /** Milliseconds since the Unix epoch. */
    readonly atMs: number
  } | null
}

interface WatchedGasWallet {
  readonly gasWalletId: string
  readonly chainId: number
  readonly address: Address
}

interface GasBalancesOptions {
  readonly chains: Chains
  readonly wallets: readonly WatchedGasWallet[]
  readonly registry: Registry
  readonly nowMs: () => number
  readonly log: { warn(context: object, message: string): void }
}

const REFRESH_MS = 60_000
/** New gas wallets are funded once their addresses are known. */
const FIRST_MS = 10_000
/** Below the present cost of this many executions, a wallet needs a top-up. */
const EXECUTIONS_LEFT_MIN = 200n
/** A swap that also delegates takes 250,000 gas. */
const EXECUTION_GAS = 250_000n

export function watchGasBalances(options: GasBalancesOptions): GasBalances {
  const { chains, wallets, registry, nowMs, log } = options
  const seen = new Map<string, GasReading['seen']>()
  const gauge = new Gauge({
    name: 'countersign_gas_wallet_balance_native',
    help: 'The balance of each gas wallet, in whole native coins.',
    labelNames: ['chain_id', 'gas_wallet'],
    registers: [registry],
  })

  async function poll({ gasWalletId, chainId, address }: WatchedGasWallet): Promise<void> {
    const chain = chains.get(chainId)
    if (chain === undefined) return
    const [wei, { gasPriceWei }] = await Promise.all([
      chain.reads.nativeBalance(address),
      chain.fees.quote(),
    ])
    gauge.set({ chain_id: String(chainId), gas_wallet: gasWalletId }, Number(wei) / 1e18)
    const lowBelowWei = gasPriceWei * EXECUTION_GAS * EXECUTIONS_LEFT_MIN
    seen.set(gasWalletId, { wei, lowBelowWei, atMs: nowMs() })
    if (wei < lowBelowWei) {
      log.warn(
        { gasWallet: gasWalletId, address, wei },
        'a gas wallet is running out of funds; top it up',
      )
    }
  }

  async function refresh(): Promise<void> {
    const polls = await Promise.allSettled(wallets.map(poll))
    for (const seen of polls) {
      if (seen.status === 'rejected') log.warn({ err: seen.reason }, 'a gas wallet was not read')
    }
  }

  const first = setTimeout(() => void refresh(), FIRST_MS)
  const timer = setInterval(() => void refresh(), REFRESH_MS)
  for (const pending of [first, timer]) pending.unref()
  return {
    readings: () =>
      wallets.map((wallet) => ({ ...wallet, seen: seen.get(wallet.gasWalletId) ?? null })),
    close() {
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}
