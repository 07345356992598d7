import { identityProviderSocket, quorumSignerSocket } from '../custody/domain-keys/layout.js'
import { connectSocket } from '../quorum-protocol/client.js'
import type { Endpoint } from '../quorum-protocol/endpoint.js'

/** Whether the other two domains answer here, asked by one that announces itself to neither. */
export interface QuorumProbe {
  readonly answering: boolean
  close(): void
}

/** @param userSide where the identity provider is reached; absent: by its socket in the home */
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
