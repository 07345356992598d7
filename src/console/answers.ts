/** An error that the service answered; the message is one sentence that a person can act on. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 if there was no answer. */
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
 * @returns the JSON of a successful answer
 * @throws ApiError for any other answer, and for one that breaks off: the call may have been
 * carried out, so it must not be taken for an answer, nor for a call that was never made
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
    { code: 'NO_ANSWER', message: `${message} Nothing on this page is lost.` },
    { cause },
  )
}
