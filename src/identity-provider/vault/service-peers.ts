/**
 * Whom the link lets in: what they may ask for, and what lets a batch be signed, is as on the Unix
 * socket.
 */
export const SERVICE_PEERS = {
  whom: 'wallet services on other machines',
  /** Threads of one machine's service, before and after a restart, and commands beside them. */
  ofOneCertificateMax: 64,
  /** Threads of some machines; those of services that were taken over from stay connected, too. */
  placesMax: 256,
  handshakesMax: 64,
  /** Clients ping every two seconds; a machine that is gone says nothing, and would keep its place. */
  silentMsMax: 15_000,
} as const
