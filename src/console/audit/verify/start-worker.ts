import { ASSETS_PATH } from '../../env.js'

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}

/**
 * The one address that the page's policy lets a script be started from besides its own: that of the
 * file which the build made. Browsers without trusted types take it as it is.
 */
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('countersign-worker', {
  createScriptURL: () => `${ASSETS_PATH}/${WORKER_FILE}`,
})

export function startWorker(): Worker {
  const url = `${ASSETS_PATH}/${WORKER_FILE}`
  return new Worker(policy?.createScriptURL(url) ?? url, { type: 'module' })
}
