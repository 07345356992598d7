/**
 * What verifies passkeys, loaded by the first of them: it takes longer to load than all else that a
 * worker of the service starts with, and most never meet one.
 */
export const webAuthnLibrary = () => import('@simplewebauthn/server')
