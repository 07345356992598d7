import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { StoreFile } from '../../../custody/key-stores/store-file.js'
import { keyIdOf, type P256Signer } from '../../../quorum-protocol/p256.js'
import type { RegistryKey } from '../../../quorum-protocol/registry.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'

/** Commands that set up a live installation: root, three domains, registry. */
export function registerProvisioning(custody: Command, io: Io): void {
  custody
    .command('make-root')
    .description('make the registry root, on a machine that stays offline')
    .requiredOption('--to <directory>', 'where its two files go')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { to: string }>()
      const { makeRegistryRoot } = await import(
        '../../../custody-tools/provisioning/registry-root.js'
      )
      const files = makeRegistryRoot(resolve(options.to))
      printRecord(io, options, { private_key: files.privateKey, public_key: files.publicKey })
    })
  custody
    .command('provision')
    .description(
      "make one domain's keys, as that domain's user, and write its enrolment for the root",
    )
    .addOption(
      new Option('--domain <name>', 'whose')
        .choices(['service', 'user', 'quorum'])
        .makeOptionMandatory(),
    )
    .requiredOption('--root-public <file>', "the root's public key, to pin")
    .requiredOption('--enrolment <file>', 'file to write for the root; not secret')
    .option(
      '--new-key',
      'service only: remove signing keys that another home has too, and make this home’s own',
    )
    .option('--pkcs11-module <file>', 'library of the PKCS#11 token for the keys')
    .option('--token <label>', "the token's label")
    .option('--pin-file <file>', "file with the token's user PIN, mode 0600")
    .option('--kms-url <url>', 'address of the KMS for the keys')
    .option('--authorization-file <file>', 'file with its Authorization header, mode 0600')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<ProvisionFlags>()
      const { provisionDomain } = await import(
        '../../../custody-tools/provisioning/provision-domain.js'
      )
      const { pinRoot } = await import('../../../custody-tools/provisioning/install-registry.js')
      const { writePublicFile } = await import('../../../custody/domain-keys/private-file.js')
      const home = homeOf(io, options)
      if (options.newKey === true && options.domain !== 'service') {
        throw new UsageError(
          '--new-key needs --domain service: only there each node has its own key',
        )
      }
      pinRoot(home, options.domain, resolve(options.rootPublic))
      const enrolment = await provisionDomain(
        home,
        options.domain,
        storeOf(options),
        options.newKey,
      )
      const path = resolve(options.enrolment)
      writePublicFile(path, Buffer.from(`${JSON.stringify(enrolment)}\n`))
      const key_id = idOfPoint(enrolment.public_key)
      printRecord(io, options, { ...enrolment, key_id, enrolment: path })
    })
  custody
    .command('sign-registry')
    .description('sign a registry with the root: the first one, or a draft of the next')
    .requiredOption('--root <file>', "the root's private key")
    .requiredOption('--out <file>', 'file for the signed registry')
    .option('--draft <file>', 'draft by custody draft-registry or rotate-cosigner; read it first')
    .option(
      '--enrolments <files...>',
      'enrolments by custody provision, for each of the three domains or for a further node',
    )
    .option(
      '--registry <file>',
      'the signed registry to which further nodes’ co-signer keys and quorum signers are added',
    )
    .option('--chains <file>', 'chains.json: Routers, delegates, ceilings and tokens')
    .option('--webauthn-rp-id <host>', 'host of passkeys: the login’s, or a domain above it')
    .option(
      '--webauthn-origins <urls...>',
      'origins of the login’s pages, such as https://id.example.com',
    )
    .addOption(
      new Option('--environment <name>', 'whether real money moves (default: live)').choices([
        'live',
        'dev',
      ]),
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<SignFlags>()
      refuseIdle(options)
      const { openRegistryRoot, signRegistry } = await import(
        '../../../custody-tools/provisioning/registry-root.js'
      )
      const root = openRegistryRoot(resolve(options.root))
      const body = await registryBodyOf(options, root)
      await signRegistry(resolve(options.out), root, body)
      printRecord(io, options, {
        version: body.version,
        environment: body.environment,
        co_signers: body.co_signers.length,
        quorum_signers: body.quorum_signers.length,
        chains: body.chains.map(({ chain_id }) => chain_id),
        registry: resolve(options.out),
      })
    })
  custody
    .command('draft-registry')
    .description(
      'write a draft like the present registry, to edit and sign: ceilings, keys that end',
    )
    .requiredOption('--out <file>', 'file to write; it must not exist')
    .option(
      '--end <keys...>',
      'co-signer keys and quorum signers that end now, such as a lost machine’s: ids or enrolments',
    )
    .option(
      '--chains <file>',
      'chains.json, whose Routers, delegates, ceilings and tokens replace the present ones',
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DraftFlags>()
      const { draftNext, pinnedRoots } = await import(
        '../../../custody-tools/provisioning/install-registry.js'
      )
      const home = homeOf(io, options)
      const draft = resolve(options.out)
      const { version, co_signers, quorum_signers } = draftNext(
        home,
        draft,
        pinnedRoots(home),
        await changesOf(options),
        Date.now(),
      )
      printRecord(io, options, {
        ...{ version, draft },
        co_signers: goingOn(co_signers),
        quorum_signers: goingOn(quorum_signers),
      })
    })
  custody
    .command('install-registry')
    .description('install a signed registry; running domains load it within a second')
    .argument('<file>')
    .action(async (file: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { installRegistry, pinnedRoots } = await import(
        '../../../custody-tools/provisioning/install-registry.js'
      )
      const home = homeOf(io, options)
      const { version } = installRegistry(home, resolve(file), pinnedRoots(home))
      printRecord(io, options, { version })
    })
}

interface ProvisionFlags extends GlobalOptions {
  readonly domain: 'service' | 'user' | 'quorum'
  readonly rootPublic: string
  readonly enrolment: string
  readonly newKey?: true
  readonly pkcs11Module?: string
  readonly token?: string
  readonly pinFile?: string
  readonly kmsUrl?: string
  readonly authorizationFile?: string
}

interface DraftFlags extends GlobalOptions {
  readonly out: string
  /** Ids, or files that `custody provision` wrote. */
  readonly end?: readonly string[]
  readonly chains?: string
}

interface SignFlags extends GlobalOptions {
  readonly root: string
  readonly out: string
  readonly draft?: string
  readonly enrolments?: readonly string[]
  readonly registry?: string
  readonly chains?: string
  /** The default is live. */
  readonly environment?: 'live' | 'dev'
  readonly webauthnRpId?: string
  readonly webauthnOrigins?: readonly string[]
}

async function changesOf({ end = [], chains }: DraftFlags) {
  const drafts = await import('../../../custody-tools/provisioning/registry-draft.js')
  const idOf = (key: string) =>
    /^[0-9a-f]{16}$/i.test(key)
      ? key.toLowerCase()
      : idOfPoint(drafts.readEnrolment(resolve(key)).public_key)
  return {
    ended: end.map(idOf),
    chains: chains === undefined ? null : resolve(chains),
  }
}

/** Returns the ids of keys without an end, newest last. */
function goingOn(rows: readonly RegistryKey[]): string {
  const keys = rows.filter(({ not_after_ms }) => not_after_ms === null)
  return keys.map(({ public_key }) => idOfPoint(public_key)).join(' ')
}

function idOfPoint(hex: string): string {
  return keyIdOf(Buffer.from(hex, 'hex')).toString('hex')
}

/** Null for keys in files. */
function storeOf(options: ProvisionFlags): StoreFile | null {
  const { pkcs11Module, token, pinFile, kmsUrl, authorizationFile } = options
  if (pkcs11Module !== undefined && kmsUrl !== undefined) {
    throw new UsageError('give --pkcs11-module or --kms-url, not both')
  }
  if (pkcs11Module !== undefined) {
    if (token === undefined || pinFile === undefined) {
      throw new UsageError('--pkcs11-module needs --token and --pin-file')
    }
    return { kind: 'pkcs11', module: resolve(pkcs11Module), token, pin_file: resolve(pinFile) }
  }
  if (kmsUrl === undefined) return null
  if (authorizationFile === undefined) throw new UsageError('--kms-url needs --authorization-file')
  return {
    kind: 'kms',
    url: kmsUrl,
    authorization_file: resolve(authorizationFile),
    signing_keys: [],
    agreement_key: null,
  }
}

function webauthnOf({ webauthnRpId, webauthnOrigins }: SignFlags) {
  if (webauthnRpId === undefined && webauthnOrigins === undefined) return {}
  if (webauthnRpId === undefined || webauthnOrigins === undefined) {
    throw new UsageError('give --webauthn-rp-id and --webauthn-origins together')
  }
  return { webauthn: { rp_id: webauthnRpId, origins: webauthnOrigins } }
}

/** Settings of a first registry; later ones keep them. */
const OF_THE_FIRST = {
  chains: '--chains',
  environment: '--environment',
  webauthnRpId: '--webauthn-rp-id',
  webauthnOrigins: '--webauthn-origins',
} as const

/** @throws UsageError when an option would have no effect on what is signed */
function refuseIdle(options: SignFlags): void {
  const other =
    options.draft !== undefined
      ? { ...OF_THE_FIRST, registry: '--registry', enrolments: '--enrolments' }
      : options.registry !== undefined
        ? OF_THE_FIRST
        : {}
  const idle = Object.entries(other)
    .filter(([name]) => options[name as keyof SignFlags] !== undefined)
    .map(([, flag]) => flag)
  if (idle.length === 0) return
  const by = options.draft === undefined ? '--registry' : '--draft'
  throw new UsageError(
    `${idle.join(' and ')} cannot be combined with ${by}, which contains that already`,
  )
}

async function registryBodyOf(options: SignFlags, root: P256Signer) {
  const drafts = await import('../../../custody-tools/provisioning/registry-draft.js')
  const { draft, enrolments, registry, chains, environment } = options
  if (draft !== undefined) return drafts.readDraft(resolve(draft))
  if (registry !== undefined) {
    if (enrolments === undefined) throw new UsageError('--registry needs --enrolments')
    const { readSigned } = await import('../../../custody-tools/provisioning/registry-root.js')
    const added = enrolments.map((path) => drafts.readEnrolment(resolve(path)))
    return drafts.withNodes(readSigned(resolve(registry), root), added, Date.now())
  }
  if (enrolments === undefined || chains === undefined) {
    throw new UsageError('give --draft, or --enrolments with --chains or --registry')
  }
  return drafts.firstRegistry(
    enrolments.map((path) => drafts.readEnrolment(resolve(path))),
    {
      environment: environment ?? 'live',
      issued_at_ms: Date.now(),
      chains: drafts.registryChains(resolve(chains), environment ?? 'live'),
      ...webauthnOf(options),
    },
  )
}
