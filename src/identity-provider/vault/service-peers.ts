/**
 * The bounds of the link's peers. What they may request, and what lets a batch be signed, is the
 * same as on the Unix socket.
 */
export const SERVICE_PEERS = {
  whom: 'wallet services on other machines',
  /**
   * Room for the threads of one machine's service, before and after a restart, and for commands.
   */
  ofOneCertificateMax: 64,
  /** Room for several machines; services that were taken over stay connected too. */
  placesMax: 256,
  handshakesMax: 64,
  /**
   * Clients ping every two seconds; a machine that is gone is silent and must not keep its place.
   */
  silentMsMax: 15_000,
} as const
