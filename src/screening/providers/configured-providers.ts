import { readApiKey, type ScreeningFile } from '../../config/screening.js'
import { createChainalysisProvider, type HttpRiskProvider } from './chainalysis-http.js'

/**
 * Opens the HTTP providers that an operator configured, for one thread: each thread has its own
 * cache.
 * @throws Error when an API key cannot be read
 */
export function openProviders(
  home: string,
  { providers }: ScreeningFile,
): readonly HttpRiskProvider[] {
  return providers.map((said) =>
    createChainalysisProvider({
      name: said.name,
      baseUrl: said.base_url,
      apiKey: readApiKey(home, said.api_key_file),
      kind: said.kind,
      whenUnavailable: said.when_unavailable,
      timeoutMs: said.timeout_ms,
    }),
  )
}
