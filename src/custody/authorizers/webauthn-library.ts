/**
 * Loads the passkey verifier on first use: it takes longer to load than everything else that a
 * worker of the service starts with, and most workers never need it.
 */
export const webAuthnLibrary = () => import('@simplewebauthn/server')
