import { CUSTODY_ADDRESS } from '../../actors/addresses.js'
import { createChainWatcherShell } from '../../actors/chain-watcher/shell.js'
import { followDecisions } from '../../actors/custody/decisions.js'
import { createCustodyShell } from '../../actors/custody/shell.js'
import { createFreezesShell } from '../../actors/freezes/shell.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { createGasWalletShell } from '../../actors/gas-wallet/shell.js'
import {
  type ActorAddress,
  type ActorShell,
  type AskResult,
  type Delivery,
  type Envelope,
  type ErasedShell,
  eraseShell,
  type ReplyToken,
} from '../../actors/runtime/actor.js'
import { workerOf, workerOfPartition } from '../../actors/runtime/routing.js'
import { ShardHost } from '../../actors/runtime/shard-host.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { encodeAnswer } from '../../actors/sub-wallet/send-reply.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'
import { createAnnouncer } from '../../actors/webhook-endpoint/announce.js'
import { createDeliveryPace } from '../../actors/webhook-endpoint/pace.js'
import { createWebhookShell } from '../../actors/webhook-endpoint/shell.js'
import { type Chains, connectChains } from '../../src/chains/access.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import type { TimedHead } from '../../src/clock/chain-time.js'
import type { Timers } from '../../src/clock/timers.js'
import { createExecutionGas } from '../../src/defi/execution-gas.js'
import type { Freeze } from '../../src/domain/freeze.js'
import { createFreezeBook, type FreezeBook } from '../../src/domain/freeze-book.js'
import { createGasBook } from '../../src/domain/gas-book.js'
import { ENTROPY_BYTES, type UserId } from '../../src/domain/ids.js'
import { NO_METER } from '../../src/domain/meter.js'
import { GAS_BUDGET_DEFAULTS } from '../../src/domain/sponsored-gas.js'
import { createApprovalPort } from '../../src/service-custody/approval-port.js'
import type { CoSigner } from '../../src/service-custody/co-signer.js'
import type { SealedText } from '../../src/service-custody/sealed-text.js'
import { AuditLog } from '../../src/store/audit-log.js'
import type { Environment } from '../../src/store/environment.js'
import { attachEventSequence } from '../../src/store/event-sequence.js'
import { journaledCommits } from '../../src/store/journaled-commits.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { attachVersions } from '../../src/store/versions.js'
import { storedGasOf } from '../../src/store/wallet-gas.js'
import { createCallQuoter } from '../../src/valuation/call-quoter.js'
import type { Life } from './scheduler.js'
import type { Resident, ServiceWorld } from './service.js'

/** What the threads of one start share. */
interface SharedMemory {
  readonly sequence: SharedArrayBuffer
  readonly walletVersions: SharedArrayBuffer
}

export interface ShardPorts {
  readonly index: number
  readonly count: number
  readonly world: ServiceWorld
  readonly life: Life
  /** By which it decides; and of its machine, which the other domains are told. */
  readonly timers: Timers
  readonly machineTimers: Timers
  readonly environment: Environment
  readonly shared: SharedMemory
  /** For oracles, of all shards. */
  readonly resident: Resident
  readonly changed: ChangedStates
  readonly decided: () => void
  /** To the main thread, which hands it on. */
  readonly outside: {
    envelope(envelope: Envelope): void
    head(head: TimedHead): void
    reply(token: ReplyToken, result: AskResult): void
    freezes(userId: UserId, standing: readonly Freeze[]): void
    /** To the journal and then the disk; null: the thread writes to the disk itself. */
    readonly commit: ((rows: Uint8Array) => Promise<void>) | null
  }
}

/** Of these, those to which something happened since they were last looked at. */
export interface ChangedStates {
  readonly wallets: Set<SubWalletState>
  readonly gasWallets: Set<GasWalletState>
}

/** States of one kind that oracles look at. */
interface Looked<State> {
  readonly held: Map<string, State>
  readonly changed: Set<State> | null
}

/** Secrets of endpoints lie open here: who may read the disk is no subject of the simulator. */
const OPEN_TEXT: SealedText = { seal: (text) => text, open: (sealed) => sealed }

/** One worker thread of a start, with the real shells of all that moves money. */
export class Shard {
  readonly chains: Chains
  readonly book: FreezeBook
  readonly #ports: ShardPorts
  readonly #host: ShardHost
  readonly #isOwn: (address: ActorAddress) => boolean

  constructor(ports: ShardPorts) {
    this.#ports = ports
    const { index, count, world, life, timers, environment, shared, outside } = ports
    const { planted, note, entropy } = world
    this.#isOwn = (address) => workerOf(address, count) === index
    const reader = createReader(environment)
    const { chains } = connectChains(world.configs, undefined, {
      timers,
      transportTo: (chainId, url) => world.transportTo(chainId, url, life),
    })
    this.chains = chains
    const draw = () => entropy.bytes(ENTROPY_BYTES)
    const owns = (partition: number) => workerOfPartition(partition, count) === index
    const sequence = attachEventSequence(shared.sequence, owns, draw)
    const commits =
      outside.commit === null
        ? localCommits(environment, sequence, draw)
        : journaledCommits(environment, sequence, outside.commit, draw)
    const asked = world.quorum.coSignerOf(life, ports.machineTimers)
    const coSigner: CoSigner = {
      ...asked,
      sign(request) {
        world.signing(request)
        return asked.sign(request)
      },
    }
    const approvals = createApprovalPort({ ...coSigner, pageOf: () => null })
    const book = createFreezeBook(reader.freezes.all(), () => null)
    this.book = book
    const tells = planted?.tells?.() ?? null
    const tell = (envelope: Envelope) => {
      for (const one of tells?.(envelope) ?? [envelope]) this.#tell(one)
    }
    const log = {
      warn: (_: object, message: string) => note(`warn: ${message}`),
      error: (context: object, message: string) => world.wrong(`${message}: ${causeOf(context)}`),
    }
    const { prices, screener, replan } = world
    const quoter = createCallQuoter(chains, prices, { elapsed: timers.elapsed })
    const isCallError = (error: unknown): error is RpcCallError => error instanceof RpcCallError
    const common = { reader, chains, coSigner, tell, log, timers }
    const auditLog = new AuditLog({ commits, timers, log: { error: log.warn } })
    const headOf = (chainId: number) => chains.get(chainId)?.fees.latest()?.head.number ?? null
    const { resident, changed } = ports
    this.#host = new ShardHost({
      ...{ meter: NO_METER, timers, commits, log },
      shells: [
        this.#seen(
          createSubWalletShell({
            ...common,
            ...{ prices, quoter, receipts: quoter, screener, approvals, replan },
            freezes: planted?.ignoresFreezes === true ? { of: () => null } : book,
            userBreakers: { of: () => null },
            gasBook: createGasBook((userId) => storedGasOf(reader, userId)),
            gasBudgets: GAS_BUDGET_DEFAULTS,
            keyChanged: () => undefined,
            versions: attachVersions(shared.walletVersions),
            auditLog,
          }),
          { held: resident.wallets, changed: changed.wallets },
        ),
        this.#seen(
          createGasWalletShell({
            ...common,
            cell: 0,
            freezes: book,
            executionGas: createExecutionGas(isCallError),
          }),
          { held: resident.gasWallets, changed: changed.gasWallets },
        ),
        this.#seen(createChainWatcherShell({ ...common, announce: outside.head })),
        this.#seen(
          createWebhookShell({
            ...{ reader, sequence, log, timers, sealedText: OPEN_TEXT },
            deliverer: world.delivererOf(life),
            pace: createDeliveryPace(world.deliveriesPerSecond, timers),
          }),
          { held: resident.endpoints, changed: null },
        ),
        this.#seen(createFreezesShell({ ...common, book, changed: outside.freezes })),
        this.#seen(createCustodyShell(coSigner, auditLog, log, timers, approvals)),
      ],
      reply: (token, result) => outside.reply(token, encodeAnswer(result, headOf)),
      appended: createAnnouncer({ reader, sequence, tell, timers }),
      fatal: () => world.ended(life),
    })
    if (world.hasApprovals && this.#isOwn(CUSTODY_ADDRESS)) {
      void followDecisions({ approvals, reader, tell, timers, log }, () => !life.isAlive)
    }
  }

  get isQuiet(): boolean {
    return this.#host.quiet
  }

  deliver(delivery: Delivery): void {
    this.#host.deliver(delivery)
  }

  /** As another thread has it; of its own users this one knows more by now. */
  noteFreezes(userId: UserId, standing: readonly Freeze[]): void {
    if (!this.#isOwn({ kind: 'freezes', id: userId, userId })) this.book.put(userId, standing)
  }

  #tell(envelope: Envelope): void {
    if (this.#isOwn(envelope)) this.#host.deliver(envelope)
    else this.#ports.outside.envelope(envelope)
  }

  /** The same shell, with its states kept for the oracles, and its commands in the trace. */
  #seen<State, Command extends { readonly type: string }, Event, Effect>(
    shell: ActorShell<State, Command, Event, Effect>,
    looked?: Looked<State>,
  ): ErasedShell {
    const { world, decided } = this.#ports
    const { note, planted, watching } = world
    const erased = eraseShell<State, Command, Event, Effect>({
      ...shell,
      load: (id) => {
        const state = shell.load(id)
        const before = looked?.held.get(id)
        // What it was before it left memory is nobody's any more.
        if (before !== undefined) looked?.changed?.delete(before)
        looked?.held.set(id, state)
        return state
      },
      decide: (state, command, token) => {
        decided()
        note(`${shell.kind} ${command.type}${subjectOf(command)}`)
        const decision = shell.decide(state, command, token)
        watching?.(shell.kind, command, decision)
        if (decision.events.length > 0) looked?.changed?.add(state)
        return decision
      },
    })
    return this.#judged(planted?.shell?.(erased) ?? erased)
  }

  /** Each decision is looked at as it is made, faults that are put in included. */
  #judged(shell: ErasedShell): ErasedShell {
    const { deciding } = this.#ports.world
    return {
      ...shell,
      decide(state, command, token) {
        const judge = deciding(shell.kind, state, command)
        const decision = shell.decide(state, command, token)
        judge(decision.events)
        return decision
      },
    }
  }
}

/** What of a command says most. */
function subjectOf(command: object): string {
  const { txId, outcome, block } = command as Record<string, unknown>
  const said = [
    typeof txId === 'string' ? txId.slice(-6) : '',
    isKind(outcome) ? outcome.kind : '',
    isNumbered(block) ? String(block.number) : '',
  ]
  return said.map((text) => (text === '' ? '' : ` ${text}`)).join('')
}

function isKind(value: unknown): value is { readonly kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function isNumbered(value: unknown): value is { readonly number: number } {
  return typeof value === 'object' && value !== null && 'number' in value
}

function causeOf(context: object): string {
  const { err } = context as { readonly err?: unknown }
  return err instanceof Error ? (err.stack ?? err.message) : String(err)
}
