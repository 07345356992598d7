import type { ChainHead } from '../../src/chains/heads.js'
import type { Environment } from '../../src/domain/api-key.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { UserId } from '../../src/domain/ids.js'
import type { TransactionStep } from '../../src/domain/path-meter.js'
import type { JournalOwner } from '../../src/quorum-protocol/service-boot.js'
import type { SharedLists } from '../../src/screening/lists/shared-lists.js'
import type { AskResult, Envelope, ReplyToken } from './actor.js'

/**
 * Messages between the main thread and a worker. Each side collects what it has to say during a
 * tick and posts it once.
 */
export type ToWorker =
  /** The first of all, once the store is the service's to write. */
  | { readonly type: 'begin'; readonly begin: WorkerBegin }
  | { readonly type: 'envelopes'; readonly envelopes: readonly EncodedEnvelope[] }
  /** All freezes in force of a user of another worker: gas wallets serve every user. */
  | { readonly type: 'freezes'; readonly userId: UserId; readonly standing: readonly Freeze[] }
  /** The `commit` that this worker asked for is in the journal and in the store. */
  | { readonly type: 'committed' }
  /** Finish what is under way, then say `drained`. */
  | { readonly type: 'drain' }

/** Lists, since names cost more to pass on than most of what they name. */
export type EncodedEnvelope = readonly [
  kind: Envelope['kind'],
  id: Envelope['id'],
  token: Envelope['token'],
  command: Envelope['command'],
]

export type EncodedReply = readonly [token: ReplyToken, result: AskResult]

export type FromWorker =
  | { readonly type: 'items'; readonly items: readonly (WorkerItem | EncodedReply)[] }
  /** Where commits go to a journal: rows of `encodeRows`. The next comes once this is `committed`. */
  | { readonly type: 'commit'; readonly rows: Uint8Array }
  /** It waits for `begin`. */
  | { readonly type: 'loaded' }
  | { readonly type: 'ready' }
  | { readonly type: 'drained' }

export type WorkerItem =
  /** For an actor of another worker. */
  | { readonly type: 'envelope'; readonly envelope: Envelope }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  | { readonly type: 'head'; readonly head: ChainHead }
  /** Where traces are collected. */
  | { readonly type: 'step'; readonly report: StepReport }
  /** All freezes of a user that are in force. */
  | { readonly type: 'freezes'; readonly userId: UserId; readonly standing: readonly Freeze[] }

/** How far a transaction has come. */
export interface StepReport {
  readonly step: TransactionStep
  readonly chainId: number
  readonly txId: string
  readonly requestId: string
  /** Of what was refused; else null. */
  readonly code: string | null
  /** Milliseconds since the epoch. */
  readonly atMs: number
}

/** What a worker loads and connects with, before the store may be written. */
export interface WorkerStart {
  readonly workerIndex: number
  readonly workerCount: number
  readonly home: string
  readonly mode: 'dev' | 'live'
  /** In `test` callers may ask for faults. */
  readonly environment: Environment
  readonly logLevel: string
  /** Whether the main thread is told of each step. */
  readonly tellsSteps: boolean
  readonly storeDirectory: string
  /** Whether commits go to a journal first, which the main thread writes. */
  readonly isJournaled: boolean
  /** Attempts of one user's webhooks. */
  readonly deliveriesPerSecond: number
  /** Of the operator's mail server; null: none. */
  readonly smtpFile: string | null
  /** How the identity provider is reached elsewhere; null: by its socket in the home. */
  readonly identityLinkFile: string | null
  /** Counts the changes of users' address rules. */
  readonly rulesVersion: SharedArrayBuffer
  /** Counts the decisions of sub-wallets. */
  readonly walletVersions: SharedArrayBuffer
  /** Counts the changes of transactions and of users' webhook endpoints in the store. */
  readonly recordVersions: SharedArrayBuffer
  readonly lists: SharedLists
  /** As the chains tell it. */
  readonly chainTime: SharedArrayBuffer
  /** What each thread's queues and pools read. */
  readonly meters: SharedArrayBuffer
  /** What each thread counts of the money path. */
  readonly path: SharedArrayBuffer
  /** What each worker reaches of the quorum. */
  readonly quorumReach: SharedArrayBuffer
  /** 16 bytes: which start of the service this is, for the identity provider. */
  readonly boot: Uint8Array
}

/** What its actors begin with. */
export interface WorkerBegin {
  /** Of events, from the last of the store on. */
  readonly sequence: SharedArrayBuffer
  /** Which journal its commits go to, and as which of its owners; null: none. */
  readonly owner: JournalOwner | null
}
