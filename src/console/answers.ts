/** What the service answered instead; the message is one sentence a person can act on. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null

  constructor(
    status: number,
    error: {
      readonly code: string
      readonly message: string
      readonly details?: Readonly<Record<string, unknown>>
      readonly request_id?: string
    },
    options?: ErrorOptions,
  ) {
    super(error.message, options)
    this.status = status
    this.code = error.code
    this.details = error.details ?? {}
    this.requestId = error.request_id ?? null
  }
}

/**
 * @returns the JSON of an answer that says yes
 * @throws ApiError of any other; also of one that breaks off: the call may have been carried out, so
 * nobody may take it for an answer, or for none that was ever asked
 */
export async function answerOf(response: Response): Promise<unknown> {
  if (response.ok) return response.json().catch(noAnswer)
  const body: unknown = await response.json().catch(() => null)
  const { error } = (body ?? {}) as { error?: ConstructorParameters<typeof ApiError>[1] }
  throw new ApiError(
    response.status,
    error ?? { code: 'UNKNOWN', message: `The service answered ${response.status}.` },
  )
}

export function noAnswer(cause: unknown): never {
  const isSlow = cause instanceof DOMException && cause.name === 'TimeoutError'
  const message = isSlow ? 'The service took too long.' : 'The service does not answer.'
  throw new ApiError(
    0,
    { code: 'NO_ANSWER', message: `${message} Nothing here is lost.` },
    { cause },
  )
}
