import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type ChainConfig, maxGasLimitOf, readChainPolicies } from '../../config/chains.js'
import { requireReadablePins } from '../../custody/domain-keys/pinned-tokens.js'
import { chainFacts } from '../../domain/chains.js'
import type { Hex } from '../../domain/ids.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { keyIdOf, publicKeyFromRaw, rawPublicKey } from '../../quorum-protocol/p256.js'
import type {
  Registry,
  RegistryBody,
  RegistryChain,
  RegistryKey,
  RegistryRole,
  RegistryToken,
} from '../../quorum-protocol/registry.js'

/**
 * Drafts for the root to sign. A draft is plain JSON, so that the root's owner can read it first:
 * it contains every key and every contract that the domains will trust.
 */

/** What a domain publishes when it is set up: its public key and nothing secret. */
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

/**
 * Drafts the first registry of an installation.
 * @throws Error unless each role is there exactly once
 */
export function firstRegistry(
  enrolments: readonly Enrolment[],
  settings: Pick<RegistryBody, 'environment' | 'chains' | 'issued_at_ms' | 'webauthn'>,
): RegistryBody {
  const keysOf = (role: RegistryRole): RegistryKey[] => {
    const found = enrolments.filter((each) => each.role === role)
    if (found.length !== 1)
      throw new Error(`exactly one enrolment of ${role} is needed, not ${found.length}`)
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
 * Drafts the next registry with a new co-signer key for one service, replacing its present ones.
 * Keys of other machines' services stay valid.
 * @param own the points of this service's keys
 * @param overlapMs how long those stay valid; 0 ends them at once
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
      // Never extended: a key that was to end sooner still does.
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
 * Drafts the next registry with co-signer keys and quorum signers of further machines. Each service
 * signs with its own key and uses its own machine's quorum signer; the identity provider trusts all
 * of them.
 * @throws Error unless all are keys of these roles that the registry does not name yet
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
        "the registry already names that key: run countersign custody rotate-cosigner to make this home's next one",
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
    // Valid from the start: a domain without this registry does not trust the key at all, and
    // one // with it compares with its own clock, which may be behind that of the root's machine.
    not_before_ms: 0,
    not_after_ms: null,
  }
}

/**
 * Drafts the next registry without some keys, such as those of a lost machine.
 * @param ended ids of co-signer keys and quorum signers, 16 hex digits each
 * @throws Error unless it names each of them, and a key of each role remains
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
      `the registry has no co-signer key or quorum signer with the id ${[...gone].join(', ')}`,
    )
  }
  if (ended.length > 0 && ![co_signers, quorum_signers].every(hasOneThatGoesOn)) {
    throw new Error(
      "no co-signer key or no quorum signer would remain, so nothing could be signed: run countersign custody rotate-cosigner --emergency to make a home's next key first",
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

/** Returns the key's id in hex. */
export function idOf({ public_key }: RegistryKey): string {
  return keyIdOf(Buffer.from(public_key, 'hex')).toString('hex')
}

/**
 * Returns what the root pins of `chains.json`: Routers, delegates, ceilings and tokens. In live
 * mode well-known tokens are pinned as well; the file's entry wins where it names one of them.
 * @throws Error that names the file
 */
export function registryChains(
  path: string,
  environment: RegistryBody['environment'],
): RegistryChain[] {
  const chains = readChainPolicies(path).chains.map((chain) => ({
    chain_id: chain.id,
    router: chain.router as Hex | null,
    delegate: chain.delegate as Hex | null,
    max_fee_per_gas_wei: chain.max_fee_per_gas_ceiling_wei,
    max_gas_limit: Number(maxGasLimitOf(chain)),
    tokens: tokensOf(chain, environment),
  }))
  requireReadablePins({ chains })
  return chains
}

function tokensOf(chain: ChainConfig, environment: RegistryBody['environment']): RegistryToken[] {
  const known = environment === 'live' ? chainFacts(chain.id).knownTokens : []
  const byAddress = new Map<string, RegistryToken>()
  for (const { address, symbol, decimals } of [...known, ...chain.tokens]) {
    byAddress.set(address.toLowerCase(), { address: address as Hex, symbol, decimals })
  }
  return [...byAddress.values()]
}

/** Returns the body that the root signed. */
export function bodyOf(registry: Registry): RegistryBody {
  return JSON.parse(Buffer.from(registry.envelope.body).toString('utf8')) as RegistryBody
}

/** Reads a draft from a file, which the root's owner reads before signing. */
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

/** True when the PEM contains the key of that point. */
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
