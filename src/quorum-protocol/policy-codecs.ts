import { GRANTED_FIELDS } from '../domain/grant-terms.js'
import {
  type GrantedName,
  type GrantedPolicy,
  KEY_POLICY,
  type KeyPolicyRows,
} from '../domain/key-policy.js'
import { canonicalText } from '../policy/canonical-policy.js'
import { parseCanonical } from '../policy/parse-policy.js'
import type { Policy } from '../policy/policy.js'
import {
  type ByteReader,
  concat,
  expectInteger,
  expectList,
  u8,
  u32,
  u256,
  viewOf,
} from './bytes.js'
import { Refusal } from './refusal.js'
import { sized, takeSized } from './sized.js'

/** Encodes a field of a grant, both for signing and for passing on or storing. */
export interface PolicyCodec {
  /** @param value in canonical form */
  write(value: unknown): Uint8Array
  /** @throws Refusal MALFORMED */
  read(reader: ByteReader): unknown
  /**
   * Returns a form that MessagePack supports: its integers end at 64 bits, and a cap may be larger.
   */
  toPlain(value: unknown): unknown
  /** @throws Refusal MALFORMED */
  fromPlain(plain: unknown): unknown
}

type Form = KeyPolicyRows[GrantedName]['form']

/** A codec for one type of value. */
interface CodecOf<Value> extends PolicyCodec {
  write(value: Value): Uint8Array
  read(reader: ByteReader): Value
  toPlain(value: Value): unknown
  fromPlain(plain: unknown): Value
}

const CHAINS_MAX = 16
/** 15 digits of USD and 6 of micros, as the wire allows. */
const MICROS = /^(0|[1-9]\d{0,20})$/

function codecOf(form: Form): PolicyCodec {
  switch (form.kind) {
    case 'choice':
      return choiceCodec(form.options)
    case 'flag':
      return FLAG
    case 'usd-cap':
      return USD_CAP
    case 'chains':
      return CHAINS
    case 'call-policy':
      return CALL_POLICY
  }
}

/** Encodes a choice in one byte, counted from 1. */
function choiceCodec(options: readonly string[]): PolicyCodec {
  const codec: CodecOf<string> = {
    write: (value) => u8(options.indexOf(value) + 1),
    read: (reader) => expectOption(options[reader.u8() - 1]),
    toPlain: (value) => value,
    fromPlain: (plain) => expectOption(options.find((option) => option === plain)),
  }
  return codec
}

function expectOption(option: string | undefined): string {
  if (option === undefined) throw new Refusal('MALFORMED', 'choice')
  return option
}

const FLAG: CodecOf<boolean> = {
  write: (set) => u8(set ? 1 : 0),
  read: (reader) => expectFlag([false, true][reader.u8()]),
  toPlain: (set) => set,
  fromPlain: (plain) => expectFlag(plain),
}

function expectFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Refusal('MALFORMED', 'flag')
  return value
}

const USD_CAP: CodecOf<bigint | null> = {
  write: (micros) => (micros === null ? concat(u8(0), u256(0n)) : concat(u8(1), u256(micros))),
  read(reader) {
    const capped = reader.u8()
    const micros = reader.u256()
    if (capped === 1) return micros
    // There is only one form of "no cap", so the same terms never have two encodings.
    if (capped === 0 && micros === 0n) return null
    throw new Refusal('MALFORMED', 'cap')
  },
  toPlain: (micros) => micros?.toString() ?? null,
  fromPlain(plain) {
    if (plain === null) return null
    if (typeof plain !== 'string' || !MICROS.test(plain)) throw new Refusal('MALFORMED', 'cap')
    return BigInt(plain)
  },
}

/** A count in one byte, then four bytes per chain. */
const CHAINS: CodecOf<readonly number[]> = {
  write: (chains) => concat(u8(chains.length), ...chains.map(u32)),
  read(reader) {
    const count = reader.u8()
    if (count > CHAINS_MAX) throw new Refusal('MALFORMED', 'chains')
    return Array.from({ length: count }, () => reader.u32())
  },
  toPlain: (chains) => [...chains],
  fromPlain: (plain) =>
    KEY_POLICY.allowedChains.form.canonical(expectList(plain, CHAINS_MAX).map(expectInteger)),
}

/** The canonical text after its length in two bytes; empty text means no policy. */
const CALL_POLICY: CodecOf<Policy | null> = {
  write: (policy) => concat(...sized(Buffer.from(policy === null ? '' : canonicalText(policy)))),
  read(reader) {
    const text = viewOf(takeSized(reader)).toString('utf8')
    return text === '' ? null : expectPolicy(text)
  },
  toPlain: (policy) => (policy === null ? null : canonicalText(policy)),
  fromPlain(plain) {
    if (plain === null) return null
    if (typeof plain !== 'string') throw new Refusal('MALFORMED', 'policy')
    return expectPolicy(plain)
  },
}

/**
 * Each domain parses what people sign by itself, and accepts only the canonical form that they
 * signed.
 */
function expectPolicy(text: string): Policy {
  const policy = parseCanonical(text)
  if (policy === null) throw new Refusal('MALFORMED', 'policy')
  return policy
}

export const POLICY_CODECS = Object.fromEntries(
  GRANTED_FIELDS.map(({ name }) => [name, codecOf(KEY_POLICY[name].form)]),
) as Readonly<Record<GrantedName, PolicyCodec>>

export function plainPolicy(policy: GrantedPolicy): Record<GrantedName, unknown> {
  const plain = GRANTED_FIELDS.map(({ name }) => [name, POLICY_CODECS[name].toPlain(policy[name])])
  return Object.fromEntries(plain) as Record<GrantedName, unknown>
}
