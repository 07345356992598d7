import { Gauge, type Registry } from 'prom-client'
import type { Chains } from '../chains/access.js'
import type { Address } from '../domain/ids.js'

/** Watches what gas wallets have left: without it sponsored calls stop on that chain. */
export interface GasBalances {
  readings(): readonly GasReading[]
  close(): void
}

export interface GasReading extends WatchedGasWallet {
  /** Null until it was read; of before, where it could not be read lately. */
  readonly seen: {
    readonly wei: bigint
    /** With less, at what gas cost then, somebody should top it up. */
    readonly lowBelowWei: bigint
    /** Milliseconds since the epoch. */
    readonly atMs: number
  } | null
}

export interface WatchedGasWallet {
  readonly gasWalletId: string
  readonly chainId: number
  readonly address: Address
}

export interface GasBalancesOptions {
  readonly chains: Chains
  readonly wallets: readonly WatchedGasWallet[]
  readonly registry: Registry
  readonly nowMs: () => number
  readonly log: { warn(context: object, message: string): void }
}

const REFRESH_MS = 60_000
/** New gas wallets are funded once their addresses are known. */
const FIRST_MS = 10_000
/** Below what this many executions cost now, somebody should top it up. */
const EXECUTIONS_LEFT_MIN = 200n
/** A swap that delegates first takes 250,000 gas. */
const EXECUTION_GAS = 250_000n

export function watchGasBalances(options: GasBalancesOptions): GasBalances {
  const { chains, wallets, registry, nowMs, log } = options
  const seen = new Map<string, GasReading['seen']>()
  const gauge = new Gauge({
    name: 'countersign_gas_wallet_balance_native',
    help: 'What each gas wallet has left, in whole native coins.',
    labelNames: ['chain_id', 'gas_wallet'],
    registers: [registry],
  })

  async function look({ gasWalletId, chainId, address }: WatchedGasWallet): Promise<void> {
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
      log.warn({ gasWallet: gasWalletId, address, wei }, 'a gas wallet runs dry; top it up')
    }
  }

  async function refresh(): Promise<void> {
    const looks = await Promise.allSettled(wallets.map(look))
    for (const seen of looks) {
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
