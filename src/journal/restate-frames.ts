import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * What a service and the handlers of its journal say to each other through Restate: some JSON, and
 * bytes that are no JSON. Each request and each reply is sealed with a key that both have and Restate
 * has not. Its ingress lets everybody in who reaches it, and its administrators decide who answers
 * there: so no request is handled, and no reply believed, of anybody without the key.
 */

/**
 * What Restate registers, by its names there, and what may be asked of each. Another name where its
 * messages or its state are no longer the same.
 */
export const OBJECTS = {
  /** By the number of the partition. */
  CountersignJournal1: [
    ...(['take', 'look', 'beat', 'append', 'read', 'trim'] as const),
    ...(['known', 'begin', 'publish', 'condemn', 'forget'] as const),
  ],
  /** By the number of the partition and the snapshot's id. */
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
/** Of the JSON: of a read, some tens of characters for each entry. */
const JSON_BYTES_MAX = 256 * 1024

export interface Message {
  readonly json: unknown
  readonly bytes: Uint8Array
}

/** Sealed bytes, and what their reply is bound to. */
export interface SealedRequest {
  readonly bytes: Uint8Array
  /** In hex: the same for the same request alone. */
  readonly name: string
}

/** It was made with another key, changed on the way, or is of another version. */
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

/** @param request as it came: a reply to another one is none to it */
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

/** A request is for one object and one operation of it, whatever its path said on the way. */
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
  if (sealed.length < SEAL_BYTES + LENGTH_BYTES) throw new SealBroken('a message was cut off')
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
