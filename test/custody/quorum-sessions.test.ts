import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import {
  acceptSession,
  bootMessage,
  encodeBoot,
  offerMessage,
  offerSession,
  openBoot,
  type QuorumBoot,
} from '../../src/quorum-protocol/quorum-session.js'
import {
  openRegistry,
  type Registry,
  type RegistryBody,
  registryMessage,
} from '../../src/quorum-protocol/registry.js'
import { createOpener, createSealer, openShares } from '../../src/quorum-protocol/sealed-shares.js'
import { x25519Pair } from '../../src/quorum-protocol/x25519.js'

/**
 * Who could forge a boot of the quorum signer would be given the user side's shares, and with the
 * service's own they are keys.
 */
const NOW = 1_000_000
const signers = {
  co_signers: newSigner(),
  approvers: newSigner(),
  quorum_signers: newSigner(),
  retired: newSigner(),
  stranger: newSigner(),
}
let registry: Registry
let boot: QuorumBoot
let bootPrivateKey: KeyObject

beforeAll(async () => {
  registry = await registryOf()
  const { privateKey, publicKey } = x25519Pair()
  bootPrivateKey = privateKey
  boot = await bootBy(signers.quorum_signers, randomBytes(16), publicKey)
})

function newSigner(): P256Signer {
  return p256SignerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
}

async function registryOf(): Promise<Registry> {
  const row = (signer: P256Signer, not_after_ms: number | null = null) => ({
    ...{ public_key: signer.publicKey.toString('hex'), not_before_ms: 0, not_after_ms },
  })
  const ended = row(signers.retired, NOW - 1)
  const body: RegistryBody = {
    ...{ version: 1, environment: 'live', issued_at_ms: 0, chains: [] },
    co_signers: [ended, row(signers.co_signers)],
    approvers: [ended, row(signers.approvers)],
    quorum_signers: [ended, row(signers.quorum_signers)],
  }
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const bytes = Buffer.from(JSON.stringify(body))
  const signature = await p256SignerOf(root).sign(registryMessage(bytes))
  return openRegistry({ body: bytes, signature }, createPublicKey(root))
}

async function bootBy(
  signer: P256Signer,
  id: Uint8Array,
  publicKey: Uint8Array,
): Promise<QuorumBoot> {
  return { boot: id, publicKey, signature: await signer.sign(bootMessage(id, publicKey)) }
}

describe('a boot of the quorum signer', () => {
  test('that the pinned key signed is believed', () => {
    expect(openBoot(encodeBoot(boot), registry, NOW)).toEqual(boot)
  })

  const forged: Readonly<Record<string, () => QuorumBoot | Promise<QuorumBoot>>> = {
    'that nobody signed': () => ({ ...boot, signature: new Uint8Array(64) }),
    'signed by a key that the registry does not name': () =>
      bootBy(signers.stranger, boot.boot, boot.publicKey),
    'signed by a quorum signer that has ended': () =>
      bootBy(signers.retired, boot.boot, boot.publicKey),
    'signed by the service': () => bootBy(signers.co_signers, boot.boot, boot.publicKey),
    'signed by the identity provider': () => bootBy(signers.approvers, boot.boot, boot.publicKey),
    'with another key of its sessions': () => ({ ...boot, publicKey: x25519Pair().publicKey }),
    'with another id': () => ({ ...boot, boot: randomBytes(16) }),
    'whose signature is of an offer': async () => ({
      ...boot,
      signature: await signers.quorum_signers.sign(offerMessage(boot, 'user', boot.publicKey)),
    }),
  }

  test.each(Object.keys(forged))('%s is refused', async (what) => {
    const made = await forged[what]?.()
    const statement = encodeBoot(made ?? boot)
    expect(() => openBoot(statement, registry, NOW)).toThrow('UNAUTHENTIC: boot statement')
  })

  test('with a byte more or less is refused', () => {
    const statement = encodeBoot(boot)
    const longer = Buffer.concat([statement, Buffer.alloc(1)])
    for (const bytes of [longer, statement.subarray(1), Buffer.alloc(0)]) {
      expect(() => openBoot(bytes, registry, NOW)).toThrow('MALFORMED')
    }
  })
})

describe('a session with the quorum signer', () => {
  const holders = [
    ['service', signers.co_signers],
    ['user', signers.approvers],
  ] as const

  test.each(holders)('that the %s side signed opens what it seals', async (holder, signer) => {
    const { offer, session } = await offerSession(boot, holder, signer)
    const accepted = acceptSession(offer, boot, bootPrivateKey, registry, NOW)
    expect(accepted.holder).toBe(holder)
    const [share, id] = [randomBytes(32), randomBytes(32)]
    const sealed = createSealer(session).seal(share, [id])
    expect(openShares(createOpener(accepted.session), sealed, [id], 0).shares).toEqual(share)
  })

  /** Who signs, for which holder, over which statement. */
  const forged: Readonly<Record<string, () => Promise<Buffer>>> = {
    'the service in the place of the user side': () => offered('user', signers.co_signers),
    'the user side in the place of the service': () => offered('service', signers.approvers),
    'the quorum signer itself': () => offered('user', signers.quorum_signers),
    'a stranger as the user side': () => offered('user', signers.stranger),
    'a stranger as the service': () => offered('service', signers.stranger),
    'an approval key that has ended': () => offered('user', signers.retired),
    'the user side, for another boot': async () => {
      const other = await bootBy(signers.quorum_signers, randomBytes(16), boot.publicKey)
      return (await offerSession(other, 'user', signers.approvers)).offer
    },
    'nobody, with another key in a genuine offer': async () => {
      const genuine = await offered('user', signers.approvers)
      genuine.set(x25519Pair().publicKey, 1)
      return genuine
    },
    'nobody, as the other holder of a genuine offer': async () => {
      const genuine = await offered('service', signers.co_signers)
      genuine[0] = 2
      return genuine
    },
  }

  async function offered(holder: 'service' | 'user', signer: P256Signer): Promise<Buffer> {
    return (await offerSession(boot, holder, signer)).offer
  }

  test.each(Object.keys(forged))('offered by %s is refused', async (who) => {
    const offer = (await forged[who]?.()) ?? Buffer.alloc(0)
    expect(() => acceptSession(offer, boot, bootPrivateKey, registry, NOW)).toThrow(
      'UNAUTHENTIC: session offer',
    )
  })
})
