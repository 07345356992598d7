import { rmSync } from 'node:fs'
import type { ChainsFile } from '../../src/config/chains.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { CHAIN_COUNT } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import { type Bootstrap, bootstrap } from './bootstrap.js'
import type { AnvilNode } from './chains/anvil-node.js'
import { deployerAccount } from './chains/deployer.js'
import { DEV_CHAINS } from './chains/dev-chains.js'
import { startChains } from './chains/start-chains.js'
import { type DevFile, devFileOf } from './dev-file.js'
import { ensureDevUser } from './dev-user.js'
import { isPortFree, startOnFreePort } from './free-port.js'
import { fundGasWallets } from './fund-gas-wallets.js'
import { fundEmptyWallet } from './fund-wallet.js'
import { lockHome } from './home/instance-lock.js'
import { writeJsonAtomically } from './home/json-file.js'
import { chainDir, type DevHome, PRIVATE_FILE_MODE, prepareHome } from './home/layout.js'
import { readLastPorts, writeLastPorts } from './ports.js'
import { identityProvider, quorumSigner, walletService } from './services.js'
import { keepWriting } from './supervision/kept-writing.js'
import { startReaper } from './supervision/reaper-client.js'
import type { ShutdownStack } from './supervision/shutdown-stack.js'
import type { ProcessObserver, SupervisedProcess } from './supervision/supervised-process.js'
import { buildWorld } from './world/build-world.js'
import { chainsFileOf } from './world/chains-file.js'
import { configureRouters } from './world/configure-routers.js'

export interface InstanceOptions {
  readonly home: DevHome
  /** Port of the service on 127.0.0.1. */
  readonly port: number
  /** Gains the way back of each step; the caller closes it, after success or failure. */
  readonly shutdown: ShutdownStack
  readonly say: (line: string) => void
}

export interface Instance {
  readonly dev: DevFile
  /** Has a new wallet service take over from the one that runs. @throws Error when it did not */
  replaceService(): Promise<void>
}

/** How a browser on this machine may name it: the console comes back to the one it was opened by. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost']
/** Next to the chains' ports, which start at 18545. */
const IDENTITY_PORT_FIRST = 18_540

/**
 * Starts chains, quorum signer, identity provider and service, in this order, each when what it
 * needs is there; makes what a first start lacks; writes `dev.json` last.
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { home, port, shutdown, say } = options
  prepareHome(home)
  if (!(await isPortFree(port))) {
    throw new Error(`port ${port} is taken; stop what listens there, or set PORT to another one`)
  }
  const lock = lockHome(home)
  await shutdown.defer(() => lock.release())
  rmSync(home.devFile, { force: true })
  const children = keepWriting(
    'the list of processes',
    () => lock.recordChildren(reaper.watched()),
    say,
  )
  const reaper = startReaper(children.refresh)
  await shutdown.defer(() => children.close())
  await shutdown.defer(() => reaper.dismiss())
  await reaper.listening

  let refreshDevFile = (): void => undefined
  const observer: ProcessObserver = {
    onSpawn: (pid) => reaper.watch(pid),
    onExit: (pid) => reaper.forget(pid),
    onRestarted: () => refreshDevFile(),
    say,
  }
  const run = async (supervised: SupervisedProcess): Promise<SupervisedProcess> => {
    await shutdown.defer(() => supervised.stop())
    await supervised.start()
    return supervised
  }

  const lastPorts = readLastPorts(home)
  const claimedPorts = new Set([port])
  const timed = stopwatch(say)

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
  const { coSigner } = await provisionDev(home.root)
  const quorum = await timed('quorum signer', () => run(quorumSigner({ home, observer, env: {} })))
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
          CONSOLE_REDIRECT_URIS: LOOPBACK_NAMES.map(
            (name) => `http://${name}:${port}/console/callback`,
          ).join(),
        }
        return { at, process: await run(identityProvider({ home, observer, env })) }
      },
    ),
  )
  writeLastPorts(home, {
    identity_provider: identity.at,
    chains: Object.fromEntries(nodes.map((node) => [String(node.chainId), node.port])),
  })
  const issuer = `http://127.0.0.1:${identity.at}`
  const baseUrl = `http://127.0.0.1:${port}`
  const env = { PORT: String(port), IDENTITY_ISSUER: issuer }
  const service = await timed('wallet service', () => run(walletService({ home, observer, env })))

  await timed('routers', async () => {
    const relayers = readGasWalletsFile(home.root)
    await configureRouters(chainsFile, deployerAccount(home), { coSigner, relayers })
    await fundGasWallets(chainsFile, deployerAccount(home), relayers)
  })
  const made = await timed('wallet and keys', () => bootstrap({ home, baseUrl, issuer, user }))
  await timed('funds', () => fundWallet(home, chainsFile, made))

  const devFile = (): DevFile =>
    devFileOf({
      baseUrl,
      issuer,
      authorizersUrl: `http://localhost:${identity.at}/authorizers`,
      user,
      made,
      chains: chainsFile.chains,
      pids: {
        service: service.pid,
        identity_provider: identity.process.pid,
        quorum_signer: quorum.pid,
        chains: Object.fromEntries(nodes.map((node) => [String(node.chainId), node.process.pid])),
      },
    })
  writeJsonAtomically(home.devFile, devFile(), PRIVATE_FILE_MODE)
  const kept = keepWriting(
    'dev.json',
    () => writeJsonAtomically(home.devFile, devFile(), PRIVATE_FILE_MODE),
    say,
  )
  await shutdown.defer(() => kept.close())
  refreshDevFile = kept.refresh
  return { dev: devFile(), replaceService: () => service.replace() }
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

async function fundWallet(home: DevHome, { chains }: ChainsFile, made: Bootstrap): Promise<void> {
  const { address: deployer } = deployerAccount(home)
  const wallet: Address = made.address
  await Promise.all(chains.map((chain) => fundEmptyWallet(chain, deployer, wallet)))
}

function stopwatch(
  say: (line: string) => void,
): <T>(step: string, work: () => Promise<T>) => Promise<T> {
  return async (step, work) => {
    const startedMs = Date.now()
    const result = await work()
    say(`${step.padEnd(18)} ready in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
    return result
  }
}
