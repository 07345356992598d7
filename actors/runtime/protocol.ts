import type { ChainHead } from '../../src/chains/heads.js'
import type { Environment } from '../../src/domain/api-key.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { UserId } from '../../src/domain/ids.js'
import type { TransactionStep } from '../../src/domain/path-meter.js'
import type { GasBudgets } from '../../src/domain/sponsored-gas.js'
import type { JournalLeadership } from '../../src/quorum-protocol/service-boot.js'
import type { SharedLists } from '../../src/screening/lists/shared-lists.js'
import type { AskResult, Envelope, ReplyToken } from './actor.js'

/**
 * Messages between the main thread and a worker. Each side collects its messages during a tick and
 * posts them once.
 */
export type ToWorker =
  /** The first message, sent once the service may write the store. */
  | { readonly type: 'begin'; readonly begin: WorkerBegin }
  | { readonly type: 'envelopes'; readonly envelopes: readonly EncodedEnvelope[] }
  /** All freezes in force for a user of another worker, because gas wallets serve every user. */
  | { readonly type: 'freezes'; readonly userId: UserId; readonly standing: readonly Freeze[] }
  /** The `commit` that this worker sent is in the journal and in the store. */
  | { readonly type: 'committed' }
  /** Finish what is under way, then send `drained`. */
  | { readonly type: 'drain' }

/** Lists, since names would cost more to pass on than most values. */
export type EncodedEnvelope = readonly [
  kind: Envelope['kind'],
  id: Envelope['id'],
  token: Envelope['token'],
  command: Envelope['command'],
]

export type EncodedReply = readonly [token: ReplyToken, result: AskResult]

export type FromWorker =
  | { readonly type: 'items'; readonly items: readonly (WorkerItem | EncodedReply)[] }
  /**
   * Sent when commits go to a journal: rows of `encodeRows`. The next follows once this one is
   * `committed`.
   */
  | { readonly type: 'commit'; readonly rows: Uint8Array }
  /** The worker is loaded and waits for `begin`. */
  | { readonly type: 'loaded' }
  | { readonly type: 'ready' }
  | { readonly type: 'drained' }

export type WorkerItem =
  /** A command for an actor of another worker. */
  | { readonly type: 'envelope'; readonly envelope: Envelope }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  | { readonly type: 'head'; readonly head: ChainHead }
  /** Sent when traces are collected. */
  | { readonly type: 'step'; readonly report: StepReport }
  /** All freezes of a user that are in force. */
  | { readonly type: 'freezes'; readonly userId: UserId; readonly standing: readonly Freeze[] }

/** A step that a transaction has reached. */
export interface StepReport {
  readonly step: TransactionStep
  readonly chainId: number
  readonly txId: string
  readonly requestId: string
  /** The error code of a refused call, otherwise null. */
  readonly code: string | null
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
}

/** The data with which a worker loads and connects, before the store may be written. */
export interface WorkerStart {
  readonly workerIndex: number
  readonly workerCount: number
  readonly home: string
  readonly mode: 'dev' | 'live'
  /** Callers may request injected faults when this is `test`. */
  readonly environment: Environment
  readonly logLevel: string
  /** Whether each step is reported to the main thread. */
  readonly tellsSteps: boolean
  readonly storeDirectory: string
  /** Whether commits go first to a journal, which the main thread writes. */
  readonly isJournaled: boolean
  /** The most delivery attempts per second for one user's webhooks. */
  readonly deliveriesPerSecond: number
  /** The operator's daily budgets for gas. */
  readonly gasBudgets: GasBudgets
  /** The file with the operator's mail server; null without one. */
  readonly smtpFile: string | null
  /**
   * The file with the link to an identity provider on another machine; null to use its socket in
   * the home.
   */
  readonly identityLinkFile: string | null
  /** Counts the changes of users' address rules. */
  readonly rulesVersion: SharedArrayBuffer
  /** Counts the decisions of sub-wallets. */
  readonly walletVersions: SharedArrayBuffer
  /** Counts the changes of transactions and of users' webhook endpoints in the store. */
  readonly recordVersions: SharedArrayBuffer
  readonly lists: SharedLists
  /** The time according to the chains. */
  readonly chainTime: SharedArrayBuffer
  /** The readings of each thread's queues and pools. */
  readonly meters: SharedArrayBuffer
  /** Each thread's counts on the money path. */
  readonly path: SharedArrayBuffer
  /** The part of the quorum that each worker can reach. */
  readonly quorumReach: SharedArrayBuffer
  /** 16 bytes that identify this start of the service to the identity provider. */
  readonly boot: Uint8Array
}

/** The data with which a worker's actors begin. */
export interface WorkerBegin {
  /** The event sequence, which continues from the last event in the store. */
  readonly sequence: SharedArrayBuffer
  /**
   * The journal that its commits go to and the leader as which it writes; null without a journal.
   */
  readonly leadership: JournalLeadership | null
}
