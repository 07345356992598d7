import { setTimeout as delay } from 'node:timers/promises'
import { valueUsdMicros } from '../../src/domain/money.js'
import { isFinal, type Transaction } from '../../src/domain/transaction.js'
import type { Anvil } from '../support/anvil.js'
import type { Harness, TestWallet } from './harness.js'

/**
 * Judges by the chain alone what became of a wallet's transactions: none lost, none twice, no
 * nonce without an owner, and the spend that the chain shows.
 */
export interface Verdict {
  readonly transactions: number
  readonly confirmed: number
  readonly failed: number
  readonly dropped: number
  /** Signed more than once. */
  readonly replaced: number
  readonly fromOutside: number
  /** Sentences, each one a broken promise; empty when all is well. */
  readonly wrong: readonly string[]
}

const POLL_MS = 50

/** All transactions of a wallet that have durable signed bytes, oldest first. */
export function transactionsOf({ reader }: Harness, wallet: TestWallet): Transaction[] {
  reader.fresh()
  const { userId } = reader.wallets.byId(wallet.subWalletId) ?? {}
  if (userId === undefined) throw new Error('the wallet is not stored')
  const all = [...reader.transactions.ofUserOldestFirst(userId, null)]
  return all.filter(({ subWalletId }) => subWalletId === wallet.subWalletId)
}

/** Waits until every transaction of the wallets is final. @throws Error that says which are not */
export async function allFinal(
  harness: Harness,
  wallets: readonly TestWallet[],
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs
  for (;;) {
    const { reader } = harness
    reader.fresh()
    // Not by reading all that ended: the actors run on this thread, and would starve.
    const open = wallets
      .flatMap(({ subWalletId }) => [...reader.transactions.openOfWallet(subWalletId)])
      .filter(isOpen)
    if (open.length === 0) return
    if (Date.now() > deadlineMs) {
      const [first] = open
      const what = open.slice(0, 8).map(({ nonce, status, call, attempts, mined }) => {
        return `${call.chainId}:${nonce} ${status} ${attempts.length} attempts ${mined ? 'mined' : ''}`
      })
      const log = harness.log.slice(-12).join('\n')
      throw new Error(`${open.length} not final: ${what.join('; ')}; ${first?.txId}\n${log}`)
    }
    await delay(POLL_MS)
  }
}

/** @param fromOutside transactions per chain that the wallet's account sent by other hands */
export async function audit(
  harness: Harness,
  wallet: TestWallet,
  fromOutside: ReadonlyMap<number, number> = new Map(),
): Promise<Verdict> {
  const all = transactionsOf(harness, wallet)
  const wrong: string[] = []
  const landed = new Map<number, number>()
  let spentMicros = 0n
  for (const tx of all) {
    const { anvil } = harness.chain(tx.call.chainId as Parameters<Harness['chain']>[0])
    const receipts = await receiptsOf(anvil, tx)
    const name = `${tx.txId} (${tx.call.chainId}, nonce ${tx.nonce}, ${tx.status})`
    const expected =
      tx.status === 'dropped'
        ? receipts.every(({ cancels }) => cancels) && receipts.length <= 1
        : receipts.length === 1 && receipts.every(({ cancels }) => !cancels)
    if (!expected) wrong.push(`${name}: ${receipts.length} receipts`)
    landed.set(tx.call.chainId, (landed.get(tx.call.chainId) ?? 0) + receipts.length)
    const spent = spentByChain(tx, receipts)
    if (tx.spentMicros !== spent) wrong.push(`${name}: ${tx.spentMicros} settled, ${spent} spent`)
    spentMicros += spent
  }
  for (const [chainId, { anvil }] of harness.chains) {
    const nonce = Number(await anvil.rpc('eth_getTransactionCount', [wallet.address, 'latest']))
    const known = (landed.get(chainId) ?? 0) + (fromOutside.get(chainId) ?? 0)
    if (nonce !== known) wrong.push(`chain ${chainId}: nonce ${nonce}, ${known} accounted for`)
  }
  const counters = harness.reader.wallets
    .header(wallet.subWalletId)
    ?.spend.find(({ lineageId }) => lineageId === wallet.lineageId)?.counters
  if (all.length > 0 && counters?.monthMicros !== spentMicros) {
    wrong.push(`${counters?.monthMicros} counted against the cap, ${spentMicros} spent`)
  }
  if (counters !== undefined && counters.reservedMicros !== 0n) {
    wrong.push(`${counters.reservedMicros} still reserved`)
  }
  const count = (status: Transaction['status']) => all.filter((tx) => tx.status === status).length
  return {
    transactions: all.length,
    confirmed: count('confirmed'),
    failed: count('failed'),
    dropped: count('dropped'),
    replaced: all.filter(({ attempts }) => attempts.length > 1).length,
    fromOutside: [...fromOutside.values()].reduce((total, it) => total + it, 0),
    wrong,
  }
}

interface Receipt {
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  /** Of an attempt that gave the transaction up. */
  readonly cancels: boolean
}

async function receiptsOf(anvil: Anvil, tx: Transaction): Promise<Receipt[]> {
  const found: Receipt[] = []
  for (const { txHash, cancels = false } of tx.attempts) {
    const receipt = await anvil.rpc('eth_getTransactionReceipt', [txHash])
    if (receipt !== null) found.push({ ...(receipt as Receipt), cancels })
  }
  return found
}

function spentByChain({ call, valuation }: Transaction, receipts: readonly Receipt[]): bigint {
  const { nativePrice, nativePriceDecimals } = valuation
  const worth = (wei: bigint) => valueUsdMicros(wei, 18, nativePrice, nativePriceDecimals)
  let micros = 0n
  for (const { status, gasUsed, effectiveGasPrice, cancels } of receipts) {
    micros += worth(BigInt(gasUsed) * BigInt(effectiveGasPrice))
    if (status === '0x1' && !cancels) micros += worth(call.value)
  }
  return micros
}

function isOpen({ status }: Transaction): boolean {
  return !isFinal(status)
}
