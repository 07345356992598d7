import { beginInstance, type InstanceOptions } from './begin-instance.js'
import { type DevFile, devFileOf } from './dev-file.js'
import { keepDevFile } from './keep-dev-file.js'
import { writeLastPorts } from './ports.js'
import { walletService } from './services.js'
import { chainPorts, prepareWallet, startSurroundings } from './surroundings.js'

export interface Instance {
  readonly dev: DevFile
  /**
   * Has a new wallet service take over from the running one.
   * @throws Error when it did not
   */
  replaceService(): Promise<void>
}

/**
 * Starts chains, quorum signer, identity provider and service, each when its dependencies are
 * ready; creates what a first start needs; writes `dev.json` last.
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const begun = await beginInstance(options)
  const { home, port, observer, run, timed } = begun
  const around = await startSurroundings(begun, [port])
  const { nodes, chainsFile, user, quorum, identity, issuer } = around
  writeLastPorts(home, { identity_provider: identity.at, chains: chainPorts(nodes) })
  const baseUrl = `http://127.0.0.1:${port}`
  const env = { PORT: String(port), IDENTITY_ISSUER: issuer }
  const service = await timed('wallet service', () =>
    run(walletService({ home, observer, env: () => env })),
  )
  const made = await prepareWallet(begun, around, { baseUrl, serviceHomes: [home.root] })

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
  begun.onRestarted(await keepDevFile(begun, devFile))
  return { dev: devFile(), replaceService: () => service.replace() }
}
