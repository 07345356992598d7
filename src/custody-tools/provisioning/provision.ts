import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  quorumLayout,
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
  softwareAuthorizerPath,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import {
  ensurePrivateFile,
  readPrivateFile,
  writePublicFile,
} from '../../custody/domain-keys/private-file.js'
import { readRegistryFile } from '../../custody/domain-keys/registry-file.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { CHAIN_IDS } from '../../domain/chains.js'
import { type P256Signer, p256SignerOf } from '../../quorum-protocol/p256.js'
import {
  openRegistry,
  type RegistryBody,
  type RegistryChain,
  type RegistryWebAuthn,
} from '../../quorum-protocol/registry.js'
import { registryChains } from './registry-draft.js'
import { signRegistry } from './registry-root.js'

interface ProvisionOptions {
  /** By default the Routers and delegates of `<home>/chains.json`, if it exists. */
  readonly chains?: readonly RegistryChain[]
  /** The origins of passkeys; by default unchanged, or absent. */
  readonly webauthn?: RegistryWebAuthn
}

interface Provisioned {
  readonly registryVersion: number
}

/** The ceiling of dev chains without their own: 10,000 gwei. */
const DEV_MAX_FEE_PER_GAS_WEI = '10000000000000'

/**
 * Makes the key files of all three domains and the registry that introduces them to each other. Dev
 * only, because one process sees every domain's private key and the registry root once. Repeated
 * calls keep all keys; when contracts or origins of passkeys change, the root signs the next
 * version.
 */
export async function provisionDev(
  home: string,
  options: ProvisionOptions = {},
): Promise<Provisioned> {
  const service = serviceLayout(home)
  const user = userSideLayout(home)
  const quorum = quorumLayout(home)
  ensurePrivateFile(rootPrivateKeyPath(home), newP256Pem)
  for (const layout of [service, user, quorum]) await ensureSigner(layout.keys)
  for (const layout of [service, user]) {
    ensurePrivateFile(layout.wrappingKey, () => randomBytes(32))
  }
  ensurePrivateFile(softwareAuthorizerPath(home), newP256Pem)

  const rootPem = readPrivateFile(rootPrivateKeyPath(home))
  const root = p256SignerOf(createPrivateKey(rootPem))
  const rootPublic = createPublicKey(rootPem)
  const rootPublicPem = Buffer.from(rootPublic.export({ type: 'spki', format: 'pem' }))
  for (const layout of [service, user, quorum]) writePublicFile(layout.rootKey, rootPublicPem)

  const chains = options.chains ?? chainsOf(home)
  const authorizers = {
    software_authorizer: p256SignerOf(
      createPrivateKey(readPrivateFile(softwareAuthorizerPath(home))),
    ).publicKey.toString('hex'),
    ...(options.webauthn === undefined ? {} : { webauthn: options.webauthn }),
  }
  const path = registryPath(home)
  let version = 0
  if (existsSync(path)) {
    const present = openRegistry(readRegistryFile(path), rootPublic)
    version = present.version
    const body = JSON.parse(Buffer.from(present.envelope.body).toString('utf8')) as RegistryBody
    const wanted = { ...body, ...authorizers, chains }
    if (JSON.stringify(body) === JSON.stringify(wanted)) {
      return { registryVersion: version }
    }
    await signRegistry(path, root, { ...wanted, version: ++version })
    return { registryVersion: version }
  }
  await signRegistry(path, root, {
    version: ++version,
    environment: 'dev',
    issued_at_ms: Date.now(),
    co_signers: [keyRow(await ensureSigner(service.keys))],
    approvers: [keyRow(await ensureSigner(user.keys))],
    quorum_signers: [keyRow(await ensureSigner(quorum.keys))],
    chains,
    ...authorizers,
  })
  return { registryVersion: version }
}

function newP256Pem(): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

async function ensureSigner(keys: string): Promise<P256Signer> {
  const store = await openKeyStore(keys, 'allowed')
  const [present] = await store.signers()
  return present ?? store.makeSigner()
}

function keyRow(signer: P256Signer): RegistryBody['co_signers'][number] {
  return { public_key: signer.publicKey.toString('hex'), not_before_ms: 0, not_after_ms: null }
}

function chainsOf(home: string): RegistryChain[] {
  const path = join(home, 'chains.json')
  if (!existsSync(path)) {
    return CHAIN_IDS.map((chain_id) => ({
      chain_id,
      router: null,
      delegate: null,
      max_fee_per_gas_wei: DEV_MAX_FEE_PER_GAS_WEI,
    }))
  }
  return registryChains(path, 'dev')
}
