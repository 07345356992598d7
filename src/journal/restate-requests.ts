import { type HeartbeatState, JournalMisuse, type NewSnapshot, type Place } from './journal.js'
import {
  type Message,
  type Operation,
  openRequest,
  type SealedRequest,
  sealReply,
  sealRequest,
} from './restate-frames.js'
import { acquire, append, heartbeat, read, readHead, trim } from './restate-object.js'
import {
  begin,
  type Counted,
  condemn,
  forget,
  known,
  publish,
} from './restate-partition-snapshots.js'
import { chunk, clear, counted, put } from './restate-snapshot-object.js'
import type { ObjectState } from './restate-state.js'

/** Requests to a partition. A `nonce` makes a request differ from the one before it. */
type PartitionRequest =
  | {
      readonly operation: 'take'
      readonly node: string
      readonly claim: string
      readonly after: number | null
    }
  | { readonly operation: 'look'; readonly nonce: string }
  | {
      readonly operation: 'beat'
      readonly nonce: string
      readonly epoch: number
      readonly stored: number
      readonly state: HeartbeatState
    }
  | { readonly operation: 'append'; readonly epoch: number; readonly seq: number }
  | {
      readonly operation: 'read'
      readonly nonce: string
      readonly afterSeq: number
      readonly bytesMax: number
    }
  | { readonly operation: 'trim'; readonly nonce: string; readonly belowSeq: number }
  | { readonly operation: 'known'; readonly nonce: string }
  | {
      readonly operation: 'begin'
      readonly nonce: string
      readonly epoch: number
      readonly id: string
      readonly index: number
    }
  | {
      readonly operation: 'publish'
      readonly snapshot: Omit<NewSnapshot, 'partition'>
      readonly counted: Counted
    }
  | {
      readonly operation: 'condemn'
      readonly nonce: string
      readonly epoch: number
      readonly id: string
    }
  | { readonly operation: 'forget'; readonly nonce: string; readonly id: string }

/** Requests to a snapshot. */
type SnapshotRequest =
  | { readonly operation: 'put'; readonly epoch: number; readonly index: number }
  | { readonly operation: 'counted'; readonly nonce: string; readonly chunks: number }
  | { readonly operation: 'chunk'; readonly nonce: string; readonly index: number }
  | { readonly operation: 'clear'; readonly nonce: string; readonly chunksMax: number }

export type Request = PartitionRequest | SnapshotRequest

/** These change nothing and may run at the same time as a writing handler. */
export const READING: ReadonlySet<Operation> = new Set([
  'look',
  'read',
  'known',
  'counted',
  'chunk',
])

/**
 * These have the same effect when repeated, and are one request when they wait at the same time.
 */
export const NAMED: ReadonlySet<Operation> = new Set(['take', 'append', 'put', 'publish'])

/** Keys of objects: of a partition, and of one of its snapshots. */
export const partitionKey = (partition: number) => String(partition)
export const snapshotKey = (partition: number, id: string) => `${partition}.${id}`

function placeOf(object: string): { readonly partition: number; readonly id: string } {
  const [partition = '', ...id] = object.split('.')
  return { partition: Number(partition), id: id.join('.') }
}

/** @param object its key */
export function sealedRequest(
  key: Uint8Array,
  object: string,
  request: Request,
  body?: Uint8Array,
): SealedRequest {
  return sealRequest(key, request.operation, object, request, body)
}

/**
 * Answers a request to an object.
 * @param object its key in Restate
 * @throws SealBroken for a request that was not sealed with this key for this object and operation
 */
export async function answerSealed(
  key: Uint8Array,
  operation: Operation,
  object: string,
  state: ObjectState,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const message = openRequest(key, operation, object, sealed)
  try {
    const { json, bytes } = await answer(state, object, message)
    return sealReply(key, sealed, json, bytes)
  } catch (error) {
    if (!(error instanceof JournalMisuse)) throw error
    return sealReply(key, sealed, { kind: 'misuse', message: error.message })
  }
}

interface Answer {
  readonly json: unknown
  readonly bytes?: readonly Uint8Array[]
}

async function answer(state: ObjectState, object: string, message: Message): Promise<Answer> {
  const request = message.json as Request
  const { partition, id } = placeOf(object)
  switch (request.operation) {
    case 'take':
      return { json: await acquire(state, request.node, request.claim, request.after) }
    case 'look':
      return { json: await readHead(state) }
    case 'beat':
      await heartbeat(state, request.epoch, request.stored, request.state)
      return { json: {} }
    case 'append': {
      const { epoch, seq } = request
      const at: Place = { partition, epoch, seq }
      return { json: await append(state, at, message.bytes) }
    }
    case 'read': {
      const answered = await read(state, request.afterSeq, request.bytesMax)
      if (answered.kind !== 'read') return { json: answered }
      const entries = answered.entries.map(({ seq, epoch, pieces }) => {
        const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
        return { seq, epoch, bytes } satisfies EntryAbout
      })
      return {
        json: { kind: 'read', entries },
        bytes: answered.entries.flatMap(({ pieces }) => pieces),
      }
    }
    case 'trim':
      return { json: { isMore: await trim(state, request.belowSeq) } }
    case 'known':
      return { json: await known(state) }
    case 'begin':
      return { json: await begin(state, { ...request, partition }) }
    case 'publish':
      return { json: await publish(state, { ...request.snapshot, partition }, request.counted) }
    case 'condemn':
      return { json: { isOver: await condemn(state, request.epoch, request.id) } }
    case 'forget':
      await forget(state, request.id)
      return { json: {} }
    case 'put': {
      const { epoch, index } = request
      return { json: await put(state, { partition, epoch, id, index }, message.bytes) }
    }
    case 'counted':
      return { json: await counted(state, request.chunks) }
    case 'chunk': {
      const pieces = await chunk(state, request.index)
      return { json: { isThere: pieces !== null }, bytes: pieces ?? [] }
    }
    case 'clear':
      return { json: await clear(state, request.chunksMax) }
  }
}

/**
 * Describes an entry of a read. Its body is the next `bytes` bytes of the reply, in the order of
 * the entries.
 */
export interface EntryAbout {
  readonly seq: number
  readonly epoch: number
  readonly bytes: number
}
