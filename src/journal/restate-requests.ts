import { type BeatState, JournalMisuse, type Place } from './journal.js'
import {
  type Message,
  type Operation,
  openRequest,
  type SealedRequest,
  sealReply,
  sealRequest,
} from './restate-frames.js'
import { append, beat, look, type ObjectState, read, take, trim } from './restate-object.js'

/** What is asked of a partition. A `nonce` makes a request another one than that before it. */
export type Request =
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
      readonly state: BeatState
    }
  | { readonly operation: 'append'; readonly epoch: number; readonly seq: number }
  | {
      readonly operation: 'read'
      readonly nonce: string
      readonly afterSeq: number
      readonly bytesMax: number
    }
  | { readonly operation: 'trim'; readonly nonce: string; readonly belowSeq: number }

/** Those that may be answered beside one that writes: they change nothing. */
export const READING: ReadonlySet<Operation> = new Set(['look', 'read'])

export function sealedRequest(
  key: Uint8Array,
  partition: number,
  request: Request,
  body?: Uint8Array,
): SealedRequest {
  return sealRequest(key, request.operation, String(partition), request, body)
}

/**
 * Answers what a partition is asked for.
 * @param partition as Restate has it: the key of the object
 * @throws SealBroken for what was not sealed with this key for this partition and operation
 */
export async function answerSealed(
  key: Uint8Array,
  operation: Operation,
  partition: string,
  state: ObjectState,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const message = openRequest(key, operation, partition, sealed)
  try {
    const { json, bytes } = await answer(state, Number(partition), message)
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

async function answer(state: ObjectState, partition: number, message: Message): Promise<Answer> {
  const request = message.json as Request
  switch (request.operation) {
    case 'take':
      return { json: await take(state, request.node, request.claim, request.after) }
    case 'look':
      return { json: await look(state) }
    case 'beat':
      await beat(state, request.epoch, request.stored, request.state)
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
  }
}

/** Of a read: its body is that many of the bytes that come with it, in the order of the entries. */
export interface EntryAbout {
  readonly seq: number
  readonly epoch: number
  readonly bytes: number
}
