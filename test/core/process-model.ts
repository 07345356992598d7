import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AskResult, eraseShell } from '../../actors/runtime/actor.js'
import { ShardHost } from '../../actors/runtime/shard-host.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import {
  decodeSendReply,
  type EncodedSendReply,
  encodeAnswer,
} from '../../actors/sub-wallet/send-reply.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'
import type { ChainAccess } from '../../src/chains/access.js'
import type { BroadcastOutcome } from '../../src/chains/rpc/broadcast-outcome.js'
import type { SpreadOutcome } from '../../src/chains/rpc/types.js'
import { systemTimers } from '../../src/clock/timers.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import { createGasBook } from '../../src/domain/gas-book.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import { NO_METER } from '../../src/domain/meter.js'
import { GAS_BUDGET_DEFAULTS } from '../../src/domain/sponsored-gas.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { CoSigner, SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import type { Environment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { storedGasOf } from '../../src/store/wallet-gas.js'
import { WrittenBodies } from '../../src/store/written-bodies.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'
import { CHAIN_ID, preparedSend, START_MS, USER_ID, WALLET_ID } from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'

interface HeldCommit {
  readonly write: () => void
  readonly done: () => void
}

/** Quorum or node: it has done what it was asked, and its answer comes or is lost. */
type Question = (answer: 'comes' | 'is lost') => void

/** Tokens of console commands; those of sends are their numbers. */
export const CONSOLE_TOKENS_FROM = 1_000_000
const MICROS = 20n

/**
 * The real shard host and sub-wallet shell on a disk whose every commit is held until it is let
 * through, and a quorum, a node and a chain that outlive the process. A kill keeps what the disk
 * has: some of what was queued, in order. What must not happen is collected in `wrong`.
 */
export class ProcessModel {
  readonly random: ReturnType<typeof seededRandom>
  readonly wrong: string[] = []
  /** By token, the transaction that a caller was told of. */
  readonly acknowledged = new Map<number, TxId>()
  /** Hashes that were mined, by nonce. */
  readonly chain: Hex[] = []
  reader: Reader
  commits: HeldCommit[] = []
  questions: Question[] = []
  #host: ShardHost
  #isAlive = { yes: true }
  #nowMs = START_MS
  #height = 1
  #ids = 0
  readonly #disk = createMemoryEnvironment()
  /** The identity provider's: the approval that each nonce is held by. */
  readonly #ledger = new Map<number, string>()
  readonly #nonceOf = new Map<Hex, number>()
  readonly #pool = new Map<number, Hex>()

  constructor(seed: number) {
    this.random = seededRandom(seed)
    const started = this.#start()
    this.reader = started.reader
    this.#host = started.host
  }

  tell(command: Command, token: number | null = null): void {
    this.#host.deliver({ kind: 'sub-wallet', id: WALLET_ID, command, token })
  }

  /** The oldest commit reaches the disk. */
  flush(): void {
    const commit = this.commits.shift()
    commit?.write()
    commit?.done()
  }

  kill(): void {
    this.#isAlive.yes = false
    const through = this.random.integer(this.commits.length + 1)
    for (const { write } of this.commits.slice(0, through)) write()
    this.commits = []
    this.questions = []
    const started = this.#start()
    this.reader = started.reader
    this.#host = started.host
  }

  /** A block with all that can go into it, and what the watcher tells of it. */
  block(): void {
    for (;;) {
      const nonce = this.chain.length
      const hash = this.#pool.get(nonce)
      if (hash === undefined) break
      this.#pool.delete(nonce)
      this.chain.push(hash)
    }
    this.#height++
    this.#nowMs += 1_000
    const nowMs = this.#nowMs
    const place = { blockNumber: this.#height, blockHash: '0x0b' } as const
    for (const { txId, status, attempts } of this.transactions()) {
      if (status !== 'signed' && status !== 'broadcast') continue
      const landed = attempts.find(({ txHash }) => this.chain.includes(txHash))
      if (landed === undefined) continue
      const { txHash } = landed
      const mined = { txHash, ...place, outcome: 'success', feeWei: 0n } as const
      this.tell({ type: 'confirmed', txId, mined, nowMs })
    }
    this.tell({
      ...{ type: 'head', chainId: CHAIN_ID, blockNumber: this.#height },
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      ...{ gasPriceWei: 1n, chainNonce: this.chain.length, finalBlock: null, nowMs },
    })
  }

  /** Everything answers and is stored, and blocks come, until nothing is open. */
  async settle(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      while (this.questions.length + this.commits.length > 0) {
        this.questions.shift()?.('comes')
        this.flush()
        await nextTurn()
      }
      await nextTurn()
      await nextTurn()
      if (this.questions.length + this.commits.length > 0) continue
      const open = this.transactions().filter(({ confirmedAtMs }) => confirmedAtMs === null)
      if (round > ROUNDS_MIN && open.every(({ status }) => status === 'dropped')) return
      this.block()
      await nextTurn()
    }
    this.wrong.push('it does not come to rest')
  }

  transactions(): Transaction[] {
    return [...this.reader.transactions.ofUserOldestFirst(USER_ID, null)]
  }

  /** Whose bytes these are. */
  ownerOf(hash: Hex): TxId | undefined {
    const isIts = ({ attempts }: Transaction) => attempts.some(({ txHash }) => txHash === hash)
    return this.transactions().find(isIts)?.txId
  }

  #start(): { readonly host: ShardHost; readonly reader: Reader } {
    const alive = { yes: true }
    this.#isAlive = alive
    const root = {
      batch: (write: () => void) =>
        new Promise<void>((done) => {
          if (alive.yes) this.commits.push({ write, done })
        }),
      resetReadTxn: () => undefined,
    }
    const environment = {
      ...this.#disk,
      root: root as unknown as Environment['root'],
      writtenBodies: new WrittenBodies(),
    }
    const reader = createReader(environment)
    const last = reader.events.lastSeqs()
    const host = new ShardHost({
      meter: NO_METER,
      shells: [eraseShell(this.#shell(reader, alive))],
      timers: systemTimers(Date.now),
      commits: localCommits(
        environment,
        attachEventSequence(createEventSequenceBuffer(last), () => true),
      ),
      reply: (token, result) => {
        if (alive.yes)
          this.#replied(
            token,
            encodeAnswer(result, () => this.#height),
          )
      },
      appended: () => undefined,
      log: { error: (_, message) => this.wrong.push(message) },
      fatal: (error) => this.wrong.push(`fatal: ${String(error)}`),
    })
    return { host, reader }
  }

  #shell(reader: Reader, alive: { readonly yes: boolean }) {
    const { quote } = preparedSend(1, MICROS)
    if (!quote.ok) throw new Error('a send has a quote')
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    const ask = <T>(done: T, lost: T) =>
      new Promise<T>((resolve) => {
        this.questions.push((answer) => {
          if (alive.yes) resolve(answer === 'comes' ? done : lost)
        })
      })
    const chain = {
      config: { confirmations: 0, max_fee_per_gas_ceiling_wei: '1000' },
      fees: { latest: () => ({ head: { number: this.#height }, fees, gasPriceWei: 1n }) },
      reads: { transactionCount: async () => this.chain.length },
      rpc: {
        views: async () => [],
        sendRawTransaction: (raw: Hex) => ask(this.#take(raw), NOT_HEARD),
        sendEverywhere: (raw: Hex) => ask(spreadOf(this.#take(raw)), spreadOf(NOT_HEARD)),
      },
    } as unknown as ChainAccess
    const unavailable: SignOutcome = { ok: false, reason: 'UNAVAILABLE' }
    const coSigner = {
      sign: (request: SignRequest) => ask<SignOutcome>(this.#sign(request), unavailable),
    } as unknown as CoSigner
    return createSubWalletShell({
      reader,
      chains: new Map([[CHAIN_ID, chain]]),
      prices: { price: () => null } as never,
      quoter: { quote: () => ({ ...quote, forecast: null }) } as never,
      receipts: { shownBy: async () => ({ shownMicros: 0n, unvalued: null }) },
      screener: { screen: () => ({ outcome: 'clean', lists: [] }) } as never,
      coSigner,
      tell: () => undefined,
      approvals: null,
      replan: () => Promise.reject(new Error('nothing waits')),
      freezes: createFreezeBook([], () => null),
      userBreakers: { of: () => null },
      gasBook: createGasBook((userId) => storedGasOf(reader, userId)),
      gasBudgets: GAS_BUDGET_DEFAULTS,
      keyChanged: () => undefined,
      versions: { countUp: () => undefined },
      log: { warn: () => undefined },
      auditLog: { note: () => undefined, settleSoon: () => undefined },
      timers: systemTimers(() => this.#nowMs),
    })
  }

  #id(tag: string): Hex {
    return `0x${tag}${(++this.#ids).toString(16).padStart(63, '0')}`
  }

  #sign({ payload, replaces }: SignRequest): SignOutcome {
    if (payload.type !== 'transaction') throw new Error('only sends are asked for')
    const held = this.#ledger.get(payload.nonce)
    const named = replaces === null ? undefined : Buffer.from(replaces).toString('hex')
    if (held !== undefined && held !== named) {
      return { ok: false, reason: 'NONCE_TAKEN', takenBy: Buffer.from(held, 'hex') }
    }
    const intentId = this.#id('c').slice(2)
    this.#ledger.set(payload.nonce, intentId)
    const txHash = this.#id('a')
    this.#nonceOf.set(txHash, payload.nonce)
    const signature = new Uint8Array(65)
    const bytes = { signature, rawTransaction: txHash, txHash }
    return { ok: true, ...bytes, intentId: Buffer.from(intentId, 'hex') }
  }

  #take(hash: Hex): BroadcastOutcome {
    const owner = this.ownerOf(hash)
    if (owner === undefined) this.wrong.push(`${hash} went out before the disk had it`)
    const nonce = this.#nonceOf.get(hash)
    if (nonce === undefined) throw new Error(`${hash} was never signed`)
    if (nonce < this.chain.length) return { kind: 'nonce-too-low', text: '' }
    const there = this.#pool.get(nonce)
    if (there !== undefined && this.ownerOf(there) !== owner) {
      this.wrong.push(`two sends at nonce ${nonce}`)
    }
    this.#pool.set(nonce, hash)
    return there === hash ? { kind: 'known' } : { kind: 'accepted' }
  }

  #replied(token: number, result: AskResult): void {
    if (!result.ok || token >= CONSOLE_TOKENS_FROM) return
    const { txId } = decodeSendReply(result.value as EncodedSendReply)
    if (this.reader.transactions.byId(txId) === undefined) {
      this.wrong.push(`${txId} was acknowledged and is not on disk`)
    }
    this.acknowledged.set(token, txId)
  }
}

const NOT_HEARD: BroadcastOutcome = { kind: 'indeterminate', text: '' }

/** Of a chain with one node. */
function spreadOf(otherwise: BroadcastOutcome): SpreadOutcome {
  const { kind } = otherwise
  const isTaken = kind === 'accepted' || kind === 'known'
  return { isTaken, isNonceTooLow: kind === 'nonce-too-low', otherwise }
}

const ROUNDS_MIN = 5
const ROUNDS_MAX = 400
