/** Bounds of what the service passes on of a person. */

export const USER_ID_CHARS_MAX = 255
export const TOKEN_CHARS_MAX = 8_192
