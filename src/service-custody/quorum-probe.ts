import { identityProviderSocket, quorumSignerSocket } from '../custody/domain-keys/layout.js'
import { connectSocket } from '../quorum-protocol/client.js'
import type { Endpoint } from '../quorum-protocol/endpoint.js'

/** Tells whether the other two domains answer, without announcing a start to either. */
export interface QuorumProbe {
  readonly answering: boolean
  close(): void
}

/** @param userSide the identity provider's endpoint; the default is its socket in the home */
export function openQuorumProbe(home: string, userSide?: Endpoint): QuorumProbe {
  const nothing = () => undefined
  const told = { onConnect: nothing, onDisconnect: nothing }
  const clients = [
    connectSocket({
      ...{ ...told, peer: 'identity provider' },
      endpoint: userSide ?? { path: identityProviderSocket(home) },
    }),
    connectSocket({
      ...{ ...told, peer: 'quorum signer' },
      endpoint: { path: quorumSignerSocket(home) },
    }),
  ]
  return {
    get answering() {
      return clients.every((client) => client.answering)
    },
    close() {
      for (const client of clients) client.close()
    },
  }
}
