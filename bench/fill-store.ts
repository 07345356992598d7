import { createHash, randomBytes } from 'node:crypto'
import type { ApiKey } from '../src/domain/api-key.js'
import { CHAIN_IDS } from '../src/domain/chains.js'
import {
  type Address,
  type Hex,
  ID_PREFIX,
  type KeyId,
  type LineageId,
  type SubWalletId,
  type TxId,
  type UserId,
  ulidBody,
} from '../src/domain/ids.js'
import { keccak256 } from '../src/domain/keccak.js'
import { INITIAL_POLICY } from '../src/domain/key-policy.js'
import { utcDay, utcMonth } from '../src/domain/spend.js'
import type { Transaction } from '../src/domain/transaction.js'
import type { SubWallet } from '../src/domain/wallet.js'
import { openEnvironment } from '../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../src/store/event-sequence.js'
import { localCommits } from '../src/store/local-commits.js'
import { createReader, type Reader } from '../src/store/reader.js'
import { WriteBatch } from '../src/store/write-batch.js'
import { COPIES_PER_COMMIT, createCopier, orderedId } from './fill-past.js'
import { SINK_CHAIN } from './sink-chains.js'

/**
 * A store as years of use leave it, written with the store's own codecs while no service runs.
 * Wallets made here have keys and headers but no shares in either domain, so they exist but cannot
 * send.
 */
export interface StoreFiller {
  /** Adds wallets with a key each, a thousand per user. */
  addWallets(count: number): Promise<void>
  /** Adds confirmed sends of the last year, spread over the wallets that can send. */
  addPast(count: number): Promise<void>
  /** Adds sends that are stored but not mined, ten per wallet, for separate wallets. */
  addOpen(count: number): Promise<void>
  close(): Promise<void>
}

/**
 * As large as a service's own commits become. The pages that one commit frees are one record in
 * LMDB's free list, and with thousands of pages in it each of the next thousands of commits takes a
 * millisecond longer.
 */
const BATCH = 500
const WALLETS_PER_USER = 1_000
const OPEN_PER_WALLET = 10
const PROGRESS_MS = 5_000
const YEAR_MS = 365 * 86_400_000
const RAW_BYTES = 118
const FILLED_USER = 'user_filled_'

export interface Owner {
  readonly wallet: SubWallet
  readonly key: ApiKey
}

/** @param progress called every few seconds with the number written */
export function openFiller(
  storeDirectory: string,
  progress: (written: number, of: number) => void,
): StoreFiller {
  const environment = openEnvironment(storeDirectory)
  const reader = createReader(environment)
  const sequence = attachEventSequence(
    createEventSequenceBuffer(reader.events.lastSeqs()),
    () => true,
  )
  const startedAtMs = Date.now()
  let made = 0
  let toldAt = performance.now()

  function tell(written: number, of: number): void {
    if (performance.now() - toldAt < PROGRESS_MS) return
    toldAt = performance.now()
    progress(written, of)
  }

  async function inBatches(count: number, put: (batch: WriteBatch, index: number) => void) {
    for (let from = 0; from < count; from += BATCH) {
      const batch = new WriteBatch()
      for (let i = from; i < Math.min(count, from + BATCH); i++) put(batch, i)
      await localCommits(environment, sequence).commit(batch)
      tell(from, count)
    }
  }

  function newOwner(): Owner {
    const userId = `${FILLED_USER}${Math.floor(made++ / WALLETS_PER_USER)}` as UserId
    return newOwnerOf(userId, `filled ${made}`, startedAtMs - made)
  }

  /** @param sent signed and not mined, from nonce 0 on */
  function put(batch: WriteBatch, { wallet, key }: Owner, sent: readonly Transaction[]): void {
    const lanes = sent.length === 0 ? [] : [{ chainId: SINK_CHAIN, nextNonce: sent.length }]
    batch.addSubWallet({ wallet, lanes, spend: [], open: sent.map(({ txId }) => txId) })
    batch.putApiKey(key)
    for (const tx of sent) batch.addTransaction(tx, null)
    if (sent.length > 0) batch.markOpen(wallet.subWalletId, null)
  }

  return {
    addWallets: (count) => inBatches(count, (batch) => put(batch, newOwner(), [])),
    async addPast(count) {
      const owners = realOwners(reader)
      const copy = createCopier(environment, reader)
      for (let from = 0; from < count; from += COPIES_PER_COMMIT) {
        const owner = owners[(from / COPIES_PER_COMMIT) % owners.length]
        if (owner === undefined) throw new Error('the store has no wallet with a key')
        const atMs = startedAtMs - YEAR_MS + Math.floor((from / count) * YEAR_MS)
        const original = pastSend(owner, atMs, from)
        const batch = new WriteBatch()
        batch.addTransaction(original, null)
        await localCommits(environment, sequence).commit(batch)
        const copies = Math.min(count - from, COPIES_PER_COMMIT) - 1
        copy(
          original,
          atMs,
          Array.from({ length: copies }, (_, i) => i + 1),
        )
        tell(from, count)
      }
    },
    async addOpen(count) {
      await inBatches(Math.ceil(count / OPEN_PER_WALLET), (batch) => {
        const owner = newOwner()
        const nonces = Array.from({ length: OPEN_PER_WALLET }, (_, nonce) => nonce)
        put(
          batch,
          owner,
          nonces.map((nonce) => openSend(owner, startedAtMs, nonce)),
        )
      })
    },
    close: () => environment.root.close(),
  }
}

/** A wallet with a key, of which no domain has a share. */
export function newOwnerOf(userId: UserId, name: string, createdAtMs: number): Owner {
  const subWalletId = id<SubWalletId>(ID_PREFIX.subWallet, createdAtMs)
  const keyId = id<KeyId>(ID_PREFIX.key, createdAtMs)
  const address: Address = `0x${randomBytes(20).toString('hex')}`
  return {
    wallet: { subWalletId, userId, name, address, epoch: 0, createdAtMs },
    key: filledKey(keyId, subWalletId, userId, name),
  }
}

/** The wallets that can send. */
export function realOwners(reader: Reader): readonly Owner[] {
  const owners: Owner[] = []
  for (const wallet of reader.wallets.all()) {
    const [key] = reader.keys.ofWallet(wallet.subWalletId)
    if (key !== undefined && !wallet.userId.startsWith(FILLED_USER)) owners.push({ wallet, key })
  }
  return owners
}

function id<Id extends string>(prefix: string, atMs: number): Id {
  return `${prefix}${ulidBody(atMs, randomBytes(10))}` as Id
}

function filledKey(keyId: KeyId, subWalletId: SubWalletId, userId: UserId, name: string): ApiKey {
  return {
    ...INITIAL_POLICY,
    keyId,
    lineageId: keyId as string as LineageId,
    subWalletId,
    userId,
    name,
    permission: 'trade',
    dailyLimitMicros: 1_000_000_000n,
    monthlyLimitMicros: 10_000_000_000n,
    allowedChains: [...CHAIN_IDS],
    environment: 'test',
    secretHash: createHash('sha256').update(keyId).digest('hex'),
    secretPrefix: 'sk_test_fill',
    createdAtMs: 0,
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
  }
}

/** Like a real send, with bytes that no key signed. */
function openSend({ wallet, key }: Owner, atMs: number, nonce: number): Transaction {
  const bytes = Buffer.concat([Buffer.from([2]), randomBytes(RAW_BYTES - 1)])
  const txHash: Hex = `0x${Buffer.from(keccak256(bytes)).toString('hex')}`
  const attempt = {
    txHash,
    rawTransaction: `0x${bytes.toString('hex')}` as Hex,
    maxFeePerGas: 2_001_000n,
    maxPriorityFeePerGas: 1_000n,
    intentId: `0x${randomBytes(32).toString('hex')}` as Hex,
    signedAtMs: atMs,
  }
  return {
    txId: id<TxId>(ID_PREFIX.tx, atMs),
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    keyId: key.keyId,
    lineageId: key.lineageId,
    requestId: `filled-${nonce}`,
    kind: 'send',
    from: wallet.address,
    call: {
      chainId: SINK_CHAIN,
      to: '0x000000000000000000000000000000000000dEaD',
      value: 1n,
      data: '0x',
    },
    nonce,
    gasLimit: 21_000n,
    status: 'broadcast',
    attempts: [attempt],
    valuation: {
      valueMicros: 1n,
      gasMicros: 127n,
      nativePrice: 300_000_000_000n,
      nativePriceDecimals: 8,
    },
    reservation: { micros: 128n, day: utcDay(atMs), month: utcMonth(atMs) },
    spentMicros: 128n,
    mined: null,
    error: null,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    confirmedAtMs: null,
  }
}

/** Confirmed in a block of its own. */
export function pastSend(owner: Owner, atMs: number, nonce: number): Transaction {
  const open = openSend(owner, atMs, nonce)
  const txHash = open.attempts[0]?.txHash ?? '0x'
  return {
    ...open,
    txId: orderedId(atMs, 0),
    status: 'confirmed',
    mined: {
      txHash,
      blockNumber: nonce,
      blockHash: `0x${'00'.repeat(32)}`,
      outcome: 'success',
      feeWei: 21_000n * 1_001_000n,
    },
    confirmedAtMs: atMs,
  }
}
