import { followRegistry } from '../custody/domain-keys/follow-registry.js'
import { quorumLayout, quorumSignerSocket, registryPath } from '../custody/domain-keys/layout.js'
import { openRegistryFile } from '../custody/domain-keys/registry-file.js'
import { ownHome } from '../custody/home-lock/own-home.js'
import { chooseSigner } from '../custody/key-stores/choose-signer.js'
import { openKeyStore } from '../custody/key-stores/open-key-store.js'
import { readProcessEnvironment } from '../custody/process-environment.js'
import { runUntilStopped } from '../custody/process-life.js'
import { handlersOf } from '../quorum-protocol/methods/method.js'
import { QUORUM_SIGNER } from '../quorum-protocol/methods/quorum-signer.js'
import { encodeBoot } from '../quorum-protocol/quorum-session.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { serveSocket } from '../quorum-protocol/server.js'
import { socketAccessOf } from '../quorum-protocol/socket-access.js'
import { signSelfTest } from './self-test.js'
import { createQuorumSessions } from './sessions.js'
import { signBatch } from './sign-batch.js'

/**
 * The quorum signer: one Unix socket, no network, and no stored secret except the key that proves
 * its identity. It joins two shares for one signature, after both domains have approved it, and
 * wipes the sum. It keeps no record of signatures: both other domains do.
 */
/** A signature takes milliseconds. */
const CLOSE_TIMEOUT_MS = 3_000

const { home, mode, fileKeys } = readProcessEnvironment(process.env)
ownHome(home, 'quorum')
const layout = quorumLayout(home)
const registry = openRegistryFile(registryPath(home), layout.rootKey, mode)
const keyStore = await openKeyStore(layout.keys, fileKeys)
const sessions = await createQuorumSessions(
  await chooseSigner(keyStore, 'quorum_signers', registry.current, Date.now()),
)

const server = await serveSocket({
  path: quorumSignerSocket(home),
  access: socketAccessOf(process.env),
  methods: QUORUM_SIGNER,
  handlers: handlersOf(
    QUORUM_SIGNER,
    { anyone: () => null },
    {
      ping: () => null,
      boot: () => encodeBoot(sessions.boot),
      registry(envelope) {
        registry.offer(envelope)
        return registry.current.version
      },
      session({ offer }) {
        sessions.accept(offer, registry.current, Date.now())
        return null
      },
      'self-test': (fields) => signSelfTest(fields, sessions, registry.current, Date.now()),
      sign: (batch) => signBatch(batch, sessions, registry.current, Date.now()),
    },
  ),
  onFault(method, error) {
    const kind = error instanceof Refusal ? error.code : error instanceof Error ? error.name : '?'
    process.stderr.write(`quorum-signer: ${method} failed: ${kind}\n`)
  },
})
const unfollow = followRegistry(
  registryPath(home),
  registry,
  ({ version }) => process.stderr.write(`quorum-signer: registry ${version} is in force\n`),
  () =>
    process.stderr.write(
      'quorum-signer: registry file rejected; the previous one stays in force\n',
    ),
)
runUntilStopped('quorum-signer', CLOSE_TIMEOUT_MS, () => {
  unfollow()
  return server.close()
})
