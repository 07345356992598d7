import type { KeyObject } from 'node:crypto'
import { defaultMaxGasLimit } from '../domain/gas-limits.js'
import type { Hex } from '../domain/ids.js'
import { keyIdOf, publicKeyFromRaw, verifyP256 } from './p256.js'
import { Refusal } from './refusal.js'
import { TAG, tagged } from './tagged.js'

/**
 * The registry names the public keys that the domains trust, and the contracts that wallets may
 * use. The offline root signs it; a higher version replaces a lower one everywhere.
 */
export interface RegistryBody {
  readonly version: number
  readonly environment: 'dev' | 'live'
  readonly issued_at_ms: number
  readonly co_signers: readonly RegistryKey[]
  readonly approvers: readonly RegistryKey[]
  readonly quorum_signers: readonly RegistryKey[]
  readonly chains: readonly RegistryChain[]
  /** The origins of passkeys; absent when passkeys are not accepted. */
  readonly webauthn?: RegistryWebAuthn
  /**
   * Dev only: hex of the 65-byte point that confirms grants of users without their own authorizer.
   */
  readonly software_authorizer?: string
}

export interface RegistryWebAuthn {
  /** The host, or a domain above it, of every origin (WebAuthn Level 3, section 5.1.2). */
  readonly rp_id: string
  /** Origins of the identity provider's pages, such as `https://id.example.com`. */
  readonly origins: readonly string[]
}

export interface RegistryKey {
  /** Hex of the 65-byte point. */
  readonly public_key: string
  readonly not_before_ms: number
  /** Null for no end. */
  readonly not_after_ms: number | null
}

export interface RegistryChain {
  readonly chain_id: number
  readonly router: Hex | null
  readonly delegate: Hex | null
  readonly max_fee_per_gas_wei: string
  /**
   * The highest gas limit of a wallet's transaction; absent for the chain's `defaultMaxGasLimit`.
   */
  readonly max_gas_limit?: number
  /** Tokens that the identity provider can name for people who approve calls. */
  readonly tokens?: readonly RegistryToken[]
}

/** Read by `../custody/domain-keys/pinned-tokens.ts`; the quorum signer does not use it. */
export interface RegistryToken {
  readonly address: Hex
  readonly symbol: string
  readonly decimals: number
}

/** The pins against which a chain's payloads are checked. */
export interface ChainPins {
  readonly router: Uint8Array | null
  readonly delegate: Uint8Array | null
  readonly maxFeePerGasWei: bigint
  readonly maxGasLimit: bigint
}

/** The pins against which a passkey's assertion is checked. */
export interface WebAuthnPins {
  readonly rpId: string
  readonly origins: readonly string[]
}

export type RegistryRole = 'co_signers' | 'approvers' | 'quorum_signers'

export interface Registry {
  readonly version: number
  readonly environment: 'dev' | 'live'
  /** The root that signed it, which this domain pins. */
  readonly root: KeyObject
  /** The signed bytes, to pass on. */
  readonly envelope: RegistryEnvelope
  readonly chains: ReadonlyMap<number, ChainPins>
  readonly webauthn: WebAuthnPins | null
  /** Null in live mode. */
  readonly softwareAuthorizer: KeyObject | null
  /** Returns the key with that id when it is valid at `nowMs`; otherwise null. */
  keyById(role: RegistryRole, kid: Uint8Array, nowMs: number): KeyObject | null
  /** Returns all keys of a role that are valid at `nowMs`. */
  keysOf(role: RegistryRole, nowMs: number): readonly KeyObject[]
  /** Returns their ids (8 bytes) in the registry's order, newest last. */
  kidsOf(role: RegistryRole, nowMs: number): readonly Buffer[]
}

export interface RegistryEnvelope {
  readonly body: Uint8Array
  /** 64 bytes r ‖ s by the root. */
  readonly signature: Uint8Array
}

const BODY_BYTES_MAX = 256 * 1024
/**
 * Retired keys stay listed, so that old evidence verifies: room for many rotations of many
 * machines.
 */
const KEYS_PER_ROLE_MAX = 512
const CHAINS_MAX = 16
const ORIGINS_MAX = 8

export function registryMessage(body: Uint8Array): Buffer {
  return tagged(TAG.registry, body)
}

/** @throws Refusal UNAUTHENTIC or MALFORMED */
export function openRegistry(envelope: RegistryEnvelope, root: KeyObject): Registry {
  if (envelope.body.length > BODY_BYTES_MAX) throw new Refusal('MALFORMED', 'registry too long')
  if (!verifyP256(root, registryMessage(envelope.body), envelope.signature)) {
    throw new Refusal('UNAUTHENTIC', 'registry is not signed by the root')
  }
  const body = JSON.parse(Buffer.from(envelope.body).toString('utf8')) as RegistryBody
  // The root's signature guarantees the form; the bounds keep a mistake of its owner harmless.
  if (!Number.isSafeInteger(body.version) || body.version < 1) {
    throw new Refusal('MALFORMED', 'registry version')
  }
  const roles = {
    co_signers: keyTable(body.co_signers),
    approvers: keyTable(body.approvers),
    quorum_signers: keyTable(body.quorum_signers),
  }
  if (body.chains.length > CHAINS_MAX) throw new Refusal('MALFORMED', 'too many chains')
  return {
    version: body.version,
    environment: body.environment,
    root,
    envelope,
    chains: new Map(body.chains.map((chain) => [chain.chain_id, pinsOf(chain)])),
    webauthn: body.webauthn === undefined ? null : webAuthnPins(body.webauthn),
    softwareAuthorizer: softwareAuthorizer(body),
    keyById(role, kid, nowMs) {
      const entry = roles[role].get(Buffer.from(kid).toString('hex'))
      return entry !== undefined && isValidAt(entry.row, nowMs) ? entry.key : null
    },
    keysOf(role, nowMs) {
      return [...roles[role].values()].filter((e) => isValidAt(e.row, nowMs)).map((e) => e.key)
    },
    kidsOf(role, nowMs) {
      return [...roles[role]]
        .filter(([, { row }]) => isValidAt(row, nowMs))
        .map(([kid]) => Buffer.from(kid, 'hex'))
    },
  }
}

function keyTable(rows: readonly RegistryKey[]): Map<string, { row: RegistryKey; key: KeyObject }> {
  if (rows.length > KEYS_PER_ROLE_MAX) throw new Refusal('MALFORMED', 'too many keys')
  return new Map(
    rows.map((row) => {
      const raw = Buffer.from(row.public_key, 'hex')
      return [keyIdOf(raw).toString('hex'), { row, key: publicKeyFromRaw(raw) }]
    }),
  )
}

function isValidAt(row: RegistryKey, nowMs: number): boolean {
  return row.not_before_ms <= nowMs && (row.not_after_ms === null || nowMs < row.not_after_ms)
}

function pinsOf(chain: RegistryChain): ChainPins {
  return {
    router: chain.router === null ? null : addressBytes(chain.router),
    delegate: chain.delegate === null ? null : addressBytes(chain.delegate),
    maxFeePerGasWei: BigInt(chain.max_fee_per_gas_wei),
    maxGasLimit: BigInt(chain.max_gas_limit ?? defaultMaxGasLimit(chain.chain_id)),
  }
}

function webAuthnPins({ rp_id, origins }: RegistryWebAuthn): WebAuthnPins {
  if (origins.length === 0 || origins.length > ORIGINS_MAX) {
    throw new Refusal('MALFORMED', 'webauthn origins')
  }
  return { rpId: rp_id, origins: [...origins] }
}

/** A key on disk that confirms everything must not be valid where money is at stake. */
function softwareAuthorizer(body: RegistryBody): KeyObject | null {
  if (body.software_authorizer === undefined) return null
  if (body.environment !== 'dev') throw new Refusal('MALFORMED', 'software authorizer in live')
  return publicKeyFromRaw(Buffer.from(body.software_authorizer, 'hex'))
}

function addressBytes(hex: Hex): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  if (bytes.length !== 20) throw new Refusal('MALFORMED', 'registry address')
  return bytes
}
