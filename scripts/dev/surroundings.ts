import { coSignerKeysOf } from '../../src/cli/operator/co-signer-keys.js'
import type { ChainsFile } from '../../src/config/chains.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { type GasWalletsFile, readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { CHAIN_COUNT } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import type { BegunInstance } from './begin-instance.js'
import { type Bootstrap, bootstrap } from './bootstrap.js'
import type { AnvilNode } from './chains/anvil-node.js'
import { deployerAccount } from './chains/deployer.js'
import { DEV_CHAINS } from './chains/dev-chains.js'
import { startChains } from './chains/start-chains.js'
import { type DevUser, ensureDevUser } from './dev-user.js'
import { startOnFreePort } from './free-port.js'
import { fundGasWallets } from './fund-gas-wallets.js'
import { fundEmptyWallet } from './fund-wallet.js'
import { writeJsonAtomically } from './home/json-file.js'
import { chainDir, type DevHome } from './home/layout.js'
import { identityProvider, type NodeOptions, quorumSigner } from './services.js'
import type { ProcessSpec, SupervisedProcess } from './supervision/supervised-process.js'
import { buildWorld } from './world/build-world.js'
import { chainsFileOf } from './world/chains-file.js'
import { configureRouters, type RouterKeys } from './world/configure-routers.js'

/** What a wallet service needs around it, each part started when its dependencies are ready. */
export interface Surroundings {
  readonly nodes: readonly AnvilNode[]
  readonly chainsFile: ChainsFile
  readonly user: DevUser
  readonly quorum: SupervisedProcess
  readonly identity: {
    /** The port of the login. */
    readonly at: number
    /** The settings of each identity provider. */
    readonly env: Readonly<Record<string, string>>
    readonly process: SupervisedProcess
  }
  readonly issuer: string
}

/** An identity provider that is one of two. */
export interface IdentityStart {
  /** Added at each start to the usual settings. */
  readonly env: () => Readonly<Record<string, string>>
  /** Leads the login's port to whichever of the two serves: each listens on a port of its own. */
  readonly layFront?: (port: number) => Promise<unknown>
  readonly awaitReady?: ProcessSpec['awaitReady']
  readonly node?: NodeOptions
}

/**
 * The names by which a local browser may call it: the console returns to the one that opened it.
 */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost']
/** Beside the chains' ports, which start at 18545. */
const IDENTITY_PORT_FIRST = 18_540

/**
 * Starts chains, contracts, quorum signer and identity provider, in this order; creates what a
 * first start needs.
 * @param servicePorts the ports from which the console may be opened
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startSurroundings(
  begun: BegunInstance,
  servicePorts: readonly number[],
  { env: more, layFront, awaitReady, node }: IdentityStart = { env: () => ({}) },
): Promise<Surroundings> {
  const { home, shutdown, observer, lastPorts, claimedPorts, run, timed } = begun
  const nodes = await timed(`${CHAIN_COUNT} chains`, async () => {
    const started = await startChains({
      home,
      chains: DEV_CHAINS,
      lastPorts: lastPorts.chains,
      claimedPorts,
      observer,
    })
    await shutdown.defer(async () => {
      await Promise.all(started.map((node) => node.stop()))
    })
    return started
  })
  const chainsFile = await timed('contracts', () => buildWorlds(home, nodes))

  const user = ensureDevUser(home)
  await provisionDev(home.root)
  const quorum = await timed('quorum signer', () =>
    run(quorumSigner({ home, observer, env: () => ({}) })),
  )
  const identityAt = async (at: number) => {
    // Passkeys need a host name: a browser takes none for an IP address.
    const webauthn = { rp_id: 'localhost', origins: [`http://localhost:${at}`] }
    await provisionDev(home.root, { webauthn })
    const env = {
      // Behind a front each is told a port of its own.
      ...(layFront === undefined
        ? { IDENTITY_PORT: String(at) }
        : { IDENTITY_PUBLIC_ISSUER: `http://127.0.0.1:${at}` }),
      CONSOLE_REDIRECT_URIS: servicePorts
        .flatMap((port) => LOOPBACK_NAMES.map((name) => `http://${name}:${port}/console/callback`))
        .join(),
    }
    const start = { home, observer, env: () => ({ ...env, ...more() }) }
    const process = identityProvider(node === undefined ? start : { ...start, node }, awaitReady)
    return { at, env, process: await run(process) }
  }
  const identity = await timed('identity provider', async () => {
    const preferred = lastPorts.identity_provider ?? IDENTITY_PORT_FIRST
    if (layFront === undefined) return startOnFreePort(preferred, claimedPorts, identityAt)
    return identityAt(
      await startOnFreePort(preferred, claimedPorts, async (at) => {
        await layFront(at)
        return at
      }),
    )
  })
  const issuer = `http://127.0.0.1:${identity.at}`
  return { nodes, chainsFile, user, quorum, identity, issuer }
}

/** Configures the Routers with the registry's present keys and the existing gas wallets. */
export function tellRouters(
  home: DevHome,
  chainsFile: ChainsFile,
  relayers: RouterKeys['relayers'],
): Promise<void> {
  // This home has the newest registry.
  const coSigners = {
    keys: coSignerKeysOf(home.root, Date.now()),
    endsUnnamed: true,
    doubt: () => {},
  }
  return configureRouters(chainsFile, deployerAccount(home), { coSigners, relayers })
}

/**
 * Creates through a running service what a first start needs: Routers that accept its keys, a
 * wallet, keys, funds.
 * @param serviceHomes the homes whose services have recorded gas wallets, including the one at
 * `baseUrl`
 */
export async function prepareWallet(
  { home, timed }: BegunInstance,
  { chainsFile, issuer, user }: Surroundings,
  { baseUrl, serviceHomes }: { readonly baseUrl: string; readonly serviceHomes: readonly string[] },
): Promise<Bootstrap> {
  const deployer = deployerAccount(home)
  await timed('routers', async () => {
    const relayers = joined(serviceHomes.map(readGasWalletsFile))
    await tellRouters(home, chainsFile, relayers)
    await fundGasWallets(chainsFile, deployer, relayers)
  })
  const made = await timed('wallet and keys', () => bootstrap({ home, baseUrl, issuer, user }))
  await timed('funds', async () => {
    const wallet: Address = made.address
    await Promise.all(
      chainsFile.chains.map((chain) => fundEmptyWallet(chain, deployer.address, wallet)),
    )
  })
  return made
}

function joined(files: readonly GasWalletsFile[]): GasWalletsFile {
  const ofAll: Record<string, readonly Address[]> = {}
  for (const [chainId, wallets] of files.flatMap((file) => Object.entries(file))) {
    ofAll[chainId] = [...(ofAll[chainId] ?? []), ...wallets]
  }
  return ofAll
}

/** Returns the chains' ports for the next start. */
export function chainPorts(nodes: readonly AnvilNode[]): Readonly<Record<string, number>> {
  return Object.fromEntries(nodes.map((node) => [String(node.chainId), node.port]))
}

async function buildWorlds(home: DevHome, nodes: readonly AnvilNode[]): Promise<ChainsFile> {
  const deployer = deployerAccount(home)
  const built = await Promise.all(
    nodes.map(async (node) => {
      const chain = DEV_CHAINS.find(({ id }) => id === node.chainId)
      if (chain === undefined) throw new Error(`no development chain ${node.chainId}`)
      const dir = chainDir(home, chain.id)
      const { world } = await buildWorld({ chain, node, dir, deployer })
      return { chain, rpcUrl: node.rpcUrl, world }
    }),
  )
  const file = chainsFileOf(built)
  writeJsonAtomically(home.chainsFile, file)
  return file
}
