import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Messages between a service and the handlers of its journal, through Restate: some JSON, and
 * bytes. Each request and reply is sealed with a key that both have and Restate does not. Restate's
 * ingress admits everybody who reaches it, and its administrators decide who answers there; so no
 * request is handled, and no reply believed, without the key.
 */

/**
 * The names under which Restate registers objects, and the operations of each. A name changes when
 * its messages or state do.
 */
export const OBJECTS = {
  /** The key is the number of the partition. */
  CountersignJournal1: [
    ...(['take', 'look', 'beat', 'append', 'read', 'trim'] as const),
    ...(['known', 'begin', 'publish', 'condemn', 'forget'] as const),
  ],
  /** The key is the number of the partition and the snapshot's id. */
  CountersignSnapshot1: ['put', 'counted', 'chunk', 'clear'],
} as const
export type ObjectName = keyof typeof OBJECTS
export type Operation = (typeof OBJECTS)[ObjectName][number]

export function objectOf(operation: Operation): ObjectName {
  const { CountersignSnapshot1: ofSnapshot } = OBJECTS
  return ofSnapshot.some((each) => each === operation)
    ? 'CountersignSnapshot1'
    : 'CountersignJournal1'
}

/** Raised by every change of the messages. */
const VERSION = 1

const SEAL_BYTES = 32
const LENGTH_BYTES = 4
/** Bounds the JSON, which for a read has some tens of characters for each entry. */
const JSON_BYTES_MAX = 256 * 1024

export interface Message {
  readonly json: unknown
  readonly bytes: Uint8Array
}

/** Sealed bytes, and the name that their reply is bound to. */
export interface SealedRequest {
  readonly bytes: Uint8Array
  /** In hex; equal only for equal requests. */
  readonly name: string
}

/** The message was sealed with another key, was changed on the way, or has another version. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

const NO_BYTES = new Uint8Array(0)

/** @param object its key in Restate */
export function sealRequest(
  key: Uint8Array,
  operation: Operation,
  object: string,
  json: unknown,
  bytes: Uint8Array = NO_BYTES,
): SealedRequest {
  const packed = pack({ json, bytes })
  const seal = sealOf(key, requestContext(operation, object), packed)
  return { bytes: Buffer.concat([seal, ...packed]), name: seal.toString('hex') }
}

/**
 * @param object its key in Restate
 * @throws SealBroken
 */
export function openRequest(
  key: Uint8Array,
  operation: Operation,
  object: string,
  sealed: Uint8Array,
): Message {
  return open(key, requestContext(operation, object), sealed)
}

/** @param request as received; the reply is not valid for any other */
export function sealReply(
  key: Uint8Array,
  request: Uint8Array,
  json: unknown,
  bytes: readonly Uint8Array[] = [],
): Uint8Array {
  const packed = pack({ json, bytes: NO_BYTES })
  const all = [...packed, ...bytes]
  return Buffer.concat([sealOf(key, replyContext(request), all), ...all])
}

/** @throws SealBroken */
export function openReply(key: Uint8Array, request: Uint8Array, sealed: Uint8Array): Message {
  return open(key, replyContext(request), sealed)
}

/** Binds a request to one object and operation, whatever path it took. */
function requestContext(operation: Operation, object: string): Uint8Array {
  return Buffer.from(`countersign journal ${VERSION} request ${operation} ${object}\n`)
}

function replyContext(request: Uint8Array): Uint8Array {
  const start = Buffer.from(`countersign journal ${VERSION} reply\n`)
  return Buffer.concat([start, request.subarray(0, SEAL_BYTES)])
}

function pack({ json, bytes }: Message): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(json))
  if (text.length > JSON_BYTES_MAX) throw new Error('a message of the journal is too long')
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return [length, text, bytes]
}

function sealOf(
  key: Uint8Array,
  context: Uint8Array,
  packed: readonly Uint8Array[],
): Buffer<ArrayBufferLike> {
  const hmac = createHmac('sha256', key).update(context)
  for (const part of packed) hmac.update(part)
  return hmac.digest()
}

function open(key: Uint8Array, context: Uint8Array, sealed: Uint8Array): Message {
  if (sealed.length < SEAL_BYTES + LENGTH_BYTES) throw new SealBroken('a message is truncated')
  const packed = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).subarray(
    SEAL_BYTES,
  )
  if (!timingSafeEqual(sealOf(key, context, [packed]), sealed.subarray(0, SEAL_BYTES))) {
    throw new SealBroken('a message was sealed with another key')
  }
  const end = LENGTH_BYTES + packed.readUInt32BE()
  return {
    json: JSON.parse(packed.subarray(LENGTH_BYTES, end).toString()),
    bytes: packed.subarray(end),
  }
}
