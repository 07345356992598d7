import { ASSETS_PATH } from '../../env.js'

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}

/**
 * The only address besides its own from which the page's policy lets a script start: the file that
 * the build made. Browsers without trusted types accept it as it is.
 */
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('countersign-worker', {
  createScriptURL: () => `${ASSETS_PATH}/${WORKER_FILE}`,
})

export function startWorker(): Worker {
  const url = `${ASSETS_PATH}/${WORKER_FILE}`
  return new Worker(policy?.createScriptURL(url) ?? url, { type: 'module' })
}
