import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { readChainPolicies } from '../../config/chains.js'
import type { Hex } from '../../domain/ids.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { keyIdOf, publicKeyFromRaw, rawPublicKey } from '../../quorum-protocol/p256.js'
import type {
  Registry,
  RegistryBody,
  RegistryChain,
  RegistryKey,
  RegistryRole,
} from '../../quorum-protocol/registry.js'

/**
 * What the root is asked to sign. A draft is plain JSON, so that whoever holds the root can read
 * it before: every key and every contract that the domains will believe is in it.
 */

/** What a domain says of itself when it is set up: its public key and nothing secret. */
export interface Enrolment {
  readonly role: RegistryRole
  /** Hex of the 65-byte point. */
  readonly public_key: string
}

const enrolment = z.strictObject({
  role: z.enum(['co_signers', 'approvers', 'quorum_signers']),
  public_key: z.string().regex(/^04[0-9a-f]{128}$/),
})

/** @throws Error that names the file */
export function readEnrolment(path: string): Enrolment {
  const parsed = enrolment.safeParse(readJson(path))
  if (!parsed.success) throw new Error(`${path} is not an enrolment of a domain`)
  publicKeyFromRaw(Buffer.from(parsed.data.public_key, 'hex'))
  return parsed.data
}

/** The first registry of an installation. @throws Error unless each role is there exactly once */
export function firstRegistry(
  enrolments: readonly Enrolment[],
  settings: Pick<RegistryBody, 'environment' | 'chains' | 'issued_at_ms' | 'webauthn'>,
): RegistryBody {
  const keysOf = (role: RegistryRole): RegistryKey[] => {
    const found = enrolments.filter((each) => each.role === role)
    if (found.length !== 1) throw new Error(`one enrolment of ${role} is due, not ${found.length}`)
    return found.map(({ public_key }) => ({ public_key, not_before_ms: 0, not_after_ms: null }))
  }
  if (new Set(enrolments.map(({ public_key }) => public_key)).size !== enrolments.length) {
    throw new Error('two domains enrol the same key: they would be one domain')
  }
  return {
    version: 1,
    ...settings,
    co_signers: keysOf('co_signers'),
    approvers: keysOf('approvers'),
    quorum_signers: keysOf('quorum_signers'),
  }
}

/**
 * The next registry: a new co-signer key of one service in place of its present ones. Those of other
 * machines' services go on.
 * @param own points of the keys that this service has
 * @param overlapMs how long those go on; 0 ends them at once
 */
export function withNextCoSigner(
  present: RegistryBody,
  publicKey: Uint8Array,
  own: readonly Uint8Array[],
  nowMs: number,
  overlapMs: number,
): RegistryBody {
  const fresh = Buffer.from(publicKey).toString('hex')
  const replaced = new Set(own.map((point) => Buffer.from(point).toString('hex')))
  const endMs = nowMs + overlapMs
  const others = present.co_signers.filter((row) => row.public_key !== fresh)
  return {
    ...present,
    version: present.version + 1,
    issued_at_ms: nowMs,
    co_signers: [
      // Never later than before: a key that was to end sooner stays so.
      ...others.map((row) =>
        replaced.has(row.public_key)
          ? { ...row, not_after_ms: Math.min(row.not_after_ms ?? endMs, endMs) }
          : row,
      ),
      rowOf(fresh),
    ],
  }
}

/**
 * The next registry: co-signer keys and quorum signers of further machines beside those that it names. Each
 * service signs with a key of its own and has the quorum signer of its own machine sign; the user side
 * believes all of them.
 * @throws Error unless all are such keys that it does not name yet
 */
export function withNodes(
  present: RegistryBody,
  enrolments: readonly Enrolment[],
  nowMs: number,
): RegistryBody {
  const { co_signers, approvers, quorum_signers } = present
  const named = new Set(
    [...co_signers, ...approvers, ...quorum_signers].map(({ public_key }) => public_key),
  )
  for (const { role, public_key } of enrolments) {
    if (role === 'approvers')
      throw new Error('there is one identity provider: approvers are not added')
    if (named.has(public_key))
      throw new Error(
        'the registry names that key already: countersign custody rotate-cosigner makes the next one of a home',
      )
    named.add(public_key)
  }
  const addedTo = (to: RegistryRole): RegistryKey[] =>
    enrolments.filter(({ role }) => role === to).map(({ public_key }) => rowOf(public_key))
  return {
    ...present,
    version: present.version + 1,
    issued_at_ms: nowMs,
    co_signers: [...co_signers, ...addedTo('co_signers')],
    quorum_signers: [...quorum_signers, ...addedTo('quorum_signers')],
  }
}

function rowOf(public_key: string): RegistryKey {
  return {
    public_key,
    // Who reads no registry that names it believes it nothing, and who does holds this against a clock of
    // another machine than the root's, which may be ahead. What it signs has a moment of its own.
    not_before_ms: 0,
    not_after_ms: null,
  }
}

/**
 * The next registry: as it is, but that keys end, such as those of a machine that is gone.
 * @param ended ids of co-signer keys and quorum signers, 16 hex digits each
 * @throws Error unless it names each of them, and what signs is left
 */
export function withoutKeys(
  present: RegistryBody,
  ended: readonly string[],
  nowMs: number,
): RegistryBody {
  const gone = new Set(ended)
  const ending = (rows: readonly RegistryKey[]): RegistryKey[] =>
    rows.map((row) =>
      gone.delete(idOf(row))
        ? { ...row, not_after_ms: Math.min(row.not_after_ms ?? nowMs, nowMs) }
        : row,
    )
  const co_signers = ending(present.co_signers)
  const quorum_signers = ending(present.quorum_signers)
  if (gone.size > 0) {
    throw new Error(
      `the registry has no co-signer key and no quorum signer of the id ${[...gone].join(', ')}`,
    )
  }
  if (ended.length > 0 && ![co_signers, quorum_signers].every(hasOneThatGoesOn)) {
    throw new Error(
      'no co-signer key or no quorum signer would be left, and nothing be signed: countersign custody rotate-cosigner --emergency makes the next key of a home',
    )
  }
  return {
    ...present,
    version: present.version + 1,
    issued_at_ms: nowMs,
    co_signers,
    quorum_signers,
  }
}

function hasOneThatGoesOn(rows: readonly RegistryKey[]): boolean {
  return rows.some(({ not_after_ms }) => not_after_ms === null)
}

/** Hex. */
export function idOf({ public_key }: RegistryKey): string {
  return keyIdOf(Buffer.from(public_key, 'hex')).toString('hex')
}

/** Routers, delegates and fee ceilings of `chains.json`. @throws Error that names the file */
export function registryChains(path: string): RegistryChain[] {
  return readChainPolicies(path).chains.map((chain) => ({
    chain_id: chain.id,
    router: chain.router as Hex | null,
    delegate: chain.delegate as Hex | null,
    max_fee_per_gas_wei: chain.max_fee_per_gas_ceiling_wei,
  }))
}

/** A registry's own words. */
export function bodyOf(registry: Registry): RegistryBody {
  return JSON.parse(Buffer.from(registry.envelope.body).toString('utf8')) as RegistryBody
}

/** A draft as it lies in a file; the root's owner reads it before signing. */
export function readDraft(path: string): RegistryBody {
  const body = readJson(path) as RegistryBody
  const isList = (value: unknown): value is RegistryKey[] => Array.isArray(value)
  if (
    !Number.isSafeInteger(body.version) ||
    !isList(body.co_signers) ||
    !isList(body.approvers) ||
    !isList(body.quorum_signers) ||
    !Array.isArray(body.chains)
  ) {
    throw new Error(`${path} is not a draft of a registry`)
  }
  return body
}

/** True when a PEM holds the key of that point. */
export function isPemOf(pem: Buffer, publicKey: Uint8Array): boolean {
  return sameBytes(rawPublicKey(createPublicKey(pem)), publicKey)
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable'
    throw new Error(`${path} is not JSON: ${reason}`, { cause })
  }
}
