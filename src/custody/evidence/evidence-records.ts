import { ByteReader, concat, u8, u32 } from '../../quorum-protocol/bytes.js'
import { BATCH_INTENTS_MAX, PAYLOAD_BYTES_MAX } from '../../quorum-protocol/limits.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type FreezeStatement, readFreezeStatement } from '../authorizers/freeze-statement.js'
import { type GrantStatement, readGrantStatement } from '../authorizers/grant-statement.js'
import { type MemberStatement, readMemberStatement } from '../members/member-statement.js'

/** Bodies of evidence in a fixed binary form: both logs hold the same bytes for the same event. */
export interface BatchEvidence {
  readonly header: Uint8Array
  readonly intents: readonly Uint8Array[]
  /** 64 bytes each. */
  readonly coSignature: Uint8Array
  readonly approval: Uint8Array
  readonly bitmap: number
  readonly quorumBoot: Uint8Array
}

const HEADER_BYTES = 33
/** More than an intent's fields before its payload take. */
const INTENT_BYTES_MAX = PAYLOAD_BYTES_MAX + 512

export function encodeBatchEvidence(batch: BatchEvidence): Buffer {
  return concat(
    batch.header,
    u8(batch.intents.length),
    encodeIntents(batch.intents),
    batch.coSignature,
    batch.approval,
    u32(batch.bitmap),
    batch.quorumBoot,
  )
}

/** Writes each intent after its length in 4 bytes. */
function encodeIntents(intents: readonly Uint8Array[]): Buffer {
  let length = 0
  for (const intent of intents) length += 4 + intent.length
  const out = Buffer.allocUnsafe(length)
  let at = 0
  for (const intent of intents) {
    at = out.writeUInt32BE(intent.length, at)
    out.set(intent, at)
    at += intent.length
  }
  return out
}

/** @throws Refusal MALFORMED */
export function decodeBatchEvidence(bytes: Uint8Array): BatchEvidence {
  const reader = new ByteReader(bytes)
  const header = reader.take(HEADER_BYTES)
  const count = reader.u8()
  if (count > BATCH_INTENTS_MAX) throw new Refusal('MALFORMED', 'batch size')
  const intents: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    const length = reader.u32()
    if (length > INTENT_BYTES_MAX) throw new Refusal('MALFORMED', 'intent length')
    intents.push(reader.take(length))
  }
  const batch = {
    header,
    intents,
    coSignature: reader.take(64),
    approval: reader.take(64),
    bitmap: reader.u32(),
    quorumBoot: reader.take(16),
  }
  reader.end()
  return batch
}

export interface WalletEvidence {
  readonly certificate: Uint8Array
  readonly serviceSignature: Uint8Array
  readonly userSignature: Uint8Array
  readonly selfTest: Uint8Array
}

export function encodeWalletEvidence(wallet: WalletEvidence): Buffer {
  return concat(wallet.serviceSignature, wallet.userSignature, wallet.selfTest, wallet.certificate)
}

/** @throws Refusal MALFORMED */
export function decodeWalletEvidence(bytes: Uint8Array): WalletEvidence {
  const reader = new ByteReader(bytes)
  return {
    serviceSignature: reader.take(64),
    userSignature: reader.take(64),
    selfTest: reader.take(65),
    certificate: reader.rest(),
  }
}

/**
 * A statement that took effect, with the proof that a person wanted it. It contains no proof key.
 */
interface ProvenStatement<Statement> {
  readonly statement: Statement
  /** The statement's bytes. */
  readonly encoded: Uint8Array
  /** An encoded proof; empty when nothing was enlarged, as with every freeze. */
  readonly proof: Uint8Array
}

/** A change of a key's grant. */
export type GrantEvidence = ProvenStatement<GrantStatement>
/** A freeze that was set or lifted. */
export type FreezeEvidence = ProvenStatement<FreezeStatement>
/** A change of an account's members. */
export type MemberEvidence = ProvenStatement<MemberStatement>

/** @throws Refusal MALFORMED */
export function decodeGrantEvidence(bytes: Uint8Array): GrantEvidence {
  const { statement, encoded, rest } = readGrantStatement(bytes)
  return { statement, encoded, proof: rest }
}

/** @throws Refusal MALFORMED */
export function decodeFreezeEvidence(bytes: Uint8Array): FreezeEvidence {
  const { statement, encoded, rest } = readFreezeStatement(bytes)
  return { statement, encoded, proof: rest }
}

/** @throws Refusal MALFORMED */
export function decodeMemberEvidence(bytes: Uint8Array): MemberEvidence {
  const { statement, encoded, rest } = readMemberStatement(bytes)
  return { statement, encoded, proof: rest }
}
