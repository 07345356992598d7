import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createChainWatcherShell } from '../../actors/chain-watcher/shell.js'
import {
  type AskResult,
  type Delivery,
  type ErasedShell,
  eraseShell,
} from '../../actors/runtime/actor.js'
import { ShardHost } from '../../actors/runtime/shard-host.js'
import type { SendCommand } from '../../actors/sub-wallet/core/messages.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { ChainId } from '../../src/domain/chains.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import { createGasBook } from '../../src/domain/gas-book.js'
import { type Address, type LineageId, type TxId, ulidBody } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { NO_METER } from '../../src/domain/meter.js'
import { GAS_BUDGET_DEFAULTS } from '../../src/domain/sponsored-gas.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import { AuditLog } from '../../src/store/audit-log.js'
import { openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { storedGasOf } from '../../src/store/wallet-gas.js'
import { createCallQuoter } from '../../src/valuation/call-quoter.js'
import { testScreener } from '../screening/fixtures.js'
import { withinOneUtcDay } from '../support/utc-day.js'
import { type FaultChain, type FaultChainOptions, startFaultChain } from './chain.js'
import { type Quorum, type QuorumWallet, startQuorum } from './quorum.js'

/**
 * The actors of the service in this process, with the real store, the real quorum, the real
 * screener and quoter, and real nodes behind proxies that break on demand.
 */
export interface Harness {
  readonly chains: ReadonlyMap<number, FaultChain>
  /** With the evidence of both domains. */
  readonly home: string
  readonly reader: Reader
  /** Warnings and errors of the actors, newest last; bounded. */
  readonly log: readonly string[]
  chain(id: ChainId): FaultChain
  createWallet(options?: WalletOptions): Promise<TestWallet>
  send(wallet: TestWallet, chainId: number, call?: Partial<SentCall>): Promise<AskResult>
  transaction(txId: TxId): Transaction | undefined
  /** Of the newest block that the fees of new sends rest on; null before the first. */
  baseFeeWei(chainId: number): bigint | null
  /** As a crash would: memory is gone, the store stays. Work in flight is never heard of. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export interface TestWallet extends QuorumWallet {
  readonly lineageId: LineageId
}

interface WalletOptions {
  readonly duplicateGuard?: 'off' | 'on'
  /** Wei on every chain. */
  readonly balanceWei?: bigint
}

interface SentCall {
  readonly to: Address
  readonly value: bigint
  readonly idempotency: SendCommand['idempotency']
}

/** 2,000 USD; what prices are is not under test here. */
const PRICE = { value: 2_000n, decimals: 0, updatedAtMs: 0, source: 'test' }
const PRICES: PriceSource = { price: () => PRICE, close() {} }
const BALANCE_WEI = 10n ** 21n
const BALANCE_BLOCKS = 6
const LOG_MAX = 400
/** What is compared with counters in the short form; of the long one only the month's. */
const MINUTES_MAX = 4
/** Old turns end within milliseconds; past this something hangs. */
const CRASH_TIMEOUT_MS = 5_000

export async function startHarness(
  chainIds: readonly ChainId[],
  options: FaultChainOptions = {},
): Promise<Harness> {
  await withinOneUtcDay(MINUTES_MAX)
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const end of ends.reverse()) await end()
  }
  try {
    const quorum = await startQuorum(chainIds)
    ends.push(() => quorum.close())
    const chains = new Map<number, FaultChain>()
    for (const id of chainIds) {
      const chain = await startFaultChain(id, options)
      chains.set(id, chain)
      ends.push(() => chain.stop())
    }
    const log: string[] = []
    const note = (level: string) => (context: object, message: string) => {
      const { err, ...rest } = context as { err?: Error }
      log.push(`${level} ${message} ${err?.stack ?? ''} ${JSON.stringify(rest)}`)
      if (log.length > LOG_MAX) log.shift()
    }
    const logger = { warn: note('warn'), error: note('error') }
    const environment = openEnvironment(join(quorum.home, 'store'))
    ends.push(() => environment.root.close())
    const reader = createReader(environment)
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    const timers = systemTimers(Date.now)
    const commits = localCommits(environment, sequence)
    const auditLog = new AuditLog({ commits, timers, log: logger })
    ends.push(() => auditLog.close())
    const screener = testScreener()
    ends.push(() => screener.close())

    function startLife(): Life {
      const access = new Map<number, ChainAccess>()
      for (const [id, chain] of chains) access.set(id, chain.connect())
      const waiting = new Map<number, (result: AskResult) => void>()
      let dead = false
      let token = 0
      const tell = (envelope: Delivery) => {
        if (!dead) host.deliver(envelope)
      }
      /** Nothing reaches a crashed process, and it does nothing more. */
      const mortal = (shell: ErasedShell): ErasedShell => ({
        ...shell,
        run(id, effect, self) {
          if (dead) return
          shell.run(id, effect, (command) => {
            if (!dead) self(command)
          })
        },
      })
      const quoter = createCallQuoter(access, PRICES)
      const common = { reader, chains: access, tell, log: logger, timers }
      const host = new ShardHost({
        meter: NO_METER,
        commits,
        timers,
        log: logger,
        shells: [
          eraseShell(
            createSubWalletShell({
              ...common,
              prices: PRICES,
              quoter,
              receipts: quoter,
              screener,
              coSigner: quorum.coSigner,
              approvals: null,
              replan: () => Promise.reject(new Error('nothing waits')),
              freezes: createFreezeBook([], () => null),
              userBreakers: { of: () => null },
              gasBook: createGasBook((userId) => storedGasOf(reader, userId)),
              gasBudgets: GAS_BUDGET_DEFAULTS,
              keyChanged() {},
              versions: { countUp() {} },
              auditLog,
            }),
          ),
          eraseShell(createChainWatcherShell({ ...common, announce() {} })),
        ].map(mortal),
        reply(to, result) {
          if (dead) return
          waiting.get(to)?.(result)
          waiting.delete(to)
        },
        appended() {},
        fatal(error) {
          log.push(`fatal ${String(error)}`)
        },
      })
      for (const id of chains.keys()) {
        tell({ kind: 'chain-watcher', id: String(id), command: { type: 'start' }, token: null })
      }
      return {
        ask(envelope) {
          return new Promise((resolve) => {
            token++
            waiting.set(token, resolve)
            host.deliver({ ...envelope, token })
          })
        },
        baseFeeWei: (chainId) => access.get(chainId)?.fees.latest()?.head.baseFeePerGas ?? null,
        async end() {
          dead = true
          const deadlineMs = Date.now() + CRASH_TIMEOUT_MS
          while (!host.quiet && Date.now() < deadlineMs) await delay(5)
          for (const { rpc, fees } of access.values()) {
            fees.close()
            await rpc.close()
          }
        },
      }
    }

    let life = startLife()
    ends.push(() => life.end())

    return {
      chains,
      home: quorum.home,
      reader,
      log,
      stop,
      chain(id) {
        const chain = chains.get(id)
        if (chain === undefined) throw new Error(`no chain ${id}`)
        return chain
      },
      async createWallet(wishes = {}) {
        const made = await quorum.createWallet()
        const wallet = { ...made, lineageId: made.keyId as unknown as LineageId }
        const ask = async (command: object) => {
          const id = wallet.subWalletId
          const result = await life.ask({ kind: 'sub-wallet', id, command, token: null })
          if (!result.ok) throw new Error(result.fault.code)
        }
        await ask({ type: 'create-wallet', wallet: walletOf(quorum, wallet) })
        await ask({ type: 'register-key', key: keyOf(quorum, wallet, chainIds, wishes) })
        const balance = `0x${(wishes.balanceWei ?? BALANCE_WEI).toString(16)}`
        for (const { anvil, mine } of chains.values()) {
          await anvil.rpc('anvil_setBalance', [wallet.address, balance])
          // Deep enough that no reorg of these tests takes the balance back.
          await mine(BALANCE_BLOCKS)
        }
        return wallet
      },
      send(wallet, chainId, { idempotency = null, ...call } = {}) {
        const command: SendCommand = {
          type: 'send',
          txId: `tx_${ulidBody(Date.now(), randomBytes(10))}` as TxId,
          requestId: randomBytes(8).toString('hex'),
          keyId: wallet.keyId,
          kind: 'send',
          call: { chainId, to: RECIPIENT, value: 1_000_000_000_000n, data: '0x', ...call },
          proofKey: wallet.proofKey,
          idempotency,
          guardsDuplicates: false,
        }
        return life.ask({ kind: 'sub-wallet', id: wallet.subWalletId, command, token: null })
      },
      transaction(txId) {
        reader.fresh()
        return reader.transactions.byId(txId)
      },
      baseFeeWei: (chainId) => life.baseFeeWei(chainId),
      async restart(meanwhile = async () => {}) {
        await life.end()
        await meanwhile()
        life = startLife()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One process life of the actors. */
interface Life {
  ask(envelope: Delivery): Promise<AskResult>
  baseFeeWei(chainId: number): bigint | null
  end(): Promise<void>
}

/** Without code on every chain. */
export const RECIPIENT: Address = '0x5aa1c0dE9B7E4D21F00Dabc077E1c3b8A6D9e2F4'

/** The transaction that an answer carries. @throws Error with the refusal */
export function accepted(result: AskResult): Transaction {
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.fault)}`)
  return (result.value as { tx: Transaction }).tx
}

function walletOf({ userId }: Quorum, { subWalletId, address }: QuorumWallet) {
  return { subWalletId, userId, name: 'test', address, epoch: 0, createdAtMs: Date.now() }
}

function keyOf(
  { userId }: Quorum,
  { keyId, subWalletId, lineageId }: TestWallet,
  allowedChains: readonly number[],
  { duplicateGuard = 'off' }: WalletOptions,
): ApiKey {
  return {
    ...INITIAL_POLICY,
    keyId,
    lineageId,
    subWalletId,
    userId,
    name: 'test',
    permission: 'trade',
    allowedChains,
    environment: 'test',
    duplicateGuard,
    secretHash: createHash('sha256').update(keyId).digest('hex'),
    secretPrefix: 'sk_test_0000',
    createdAtMs: Date.now(),
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
  }
}
