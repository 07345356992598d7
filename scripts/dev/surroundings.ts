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

/** What a wallet service needs around it, each started when what it needs is there. */
export interface Surroundings {
  readonly nodes: readonly AnvilNode[]
  readonly chainsFile: ChainsFile
  readonly user: DevUser
  readonly quorum: SupervisedProcess
  readonly identity: {
    readonly at: number
    /** What each is told that listens there. */
    readonly env: Readonly<Record<string, string>>
    readonly process: SupervisedProcess
  }
  readonly issuer: string
}

/** An identity provider that is one of two. */
export interface IdentityStart {
  /** Of each start, besides what every one is told. */
  readonly env: () => Readonly<Record<string, string>>
  readonly awaitReady?: ProcessSpec['awaitReady']
  readonly node?: NodeOptions
}

/** How a browser on this machine may name it: the console comes back to the one it was opened by. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost']
/** Next to the chains' ports, which start at 18545. */
const IDENTITY_PORT_FIRST = 18_540

/**
 * Starts chains, contracts, quorum signer and identity provider, in this order; makes what a first
 * start lacks.
 * @param servicePorts from which the console may be opened
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startSurroundings(
  begun: BegunInstance,
  servicePorts: readonly number[],
  { env: more, awaitReady, node }: IdentityStart = { env: () => ({}) },
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
  const identity = await timed('identity provider', () =>
    startOnFreePort(
      lastPorts.identity_provider ?? IDENTITY_PORT_FIRST,
      claimedPorts,
      async (at) => {
        // Passkeys need a host name: a browser takes none for an IP address.
        const webauthn = { rp_id: 'localhost', origins: [`http://localhost:${at}`] }
        await provisionDev(home.root, { webauthn })
        const env = {
          IDENTITY_PORT: String(at),
          CONSOLE_REDIRECT_URIS: servicePorts
            .flatMap((port) =>
              LOOPBACK_NAMES.map((name) => `http://${name}:${port}/console/callback`),
            )
            .join(),
        }
        const start = { home, observer, env: () => ({ ...env, ...more() }) }
        const process = identityProvider(
          node === undefined ? start : { ...start, node },
          awaitReady,
        )
        return { at, env, process: await run(process) }
      },
    ),
  )
  const issuer = `http://127.0.0.1:${identity.at}`
  return { nodes, chainsFile, user, quorum, identity, issuer }
}

/** Which keys the registry names by now, and which gas wallets there are. */
export function tellRouters(
  home: DevHome,
  chainsFile: ChainsFile,
  relayers: RouterKeys['relayers'],
): Promise<void> {
  // The registry here is the newest there is.
  const coSigners = {
    keys: coSignerKeysOf(home.root, Date.now()),
    endsUnnamed: true,
    doubt: () => {},
  }
  return configureRouters(chainsFile, deployerAccount(home), { coSigners, relayers })
}

/**
 * What a first start makes through a service that runs: Routers that take its keys, a wallet, keys, funds.
 * @param serviceHomes whose gas wallets services have written down, that at `baseUrl` among them
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

/** Ports of the chains, for the next start to take again. */
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
