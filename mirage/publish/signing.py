"""Ed25519 keys of published boards, by the package `cryptography`.

A signature covers `_CONTEXT` and the head's 32 bytes, so that it cannot be reused as a signature of anything else.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mirage.errors import BadInput
from mirage.store.extras import extra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_CONTEXT = b"mirage board head\n"


def new_private_key() -> bytes:
    """Return a new private key as PEM (PKCS 8, not encrypted).

    Raises:
        BadInput: if `cryptography` is not installed.
    """
    with extra("publish", "a signed board"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def public_key(private: bytes) -> str:
    """Return the public key of a private key as PEM.

    Raises:
        BadInput: if it is no Ed25519 private key, or `cryptography` is not installed.
    """
    return _pem(_private(private).public_key())


def fingerprint(public: str) -> str:
    """Return the SHA-256 of a public key's 32 bytes, in hexadecimal.

    Raises:
        BadInput: if it is no Ed25519 public key, or `cryptography` is not installed.
    """
    return hashlib.sha256(_public(public).public_bytes_raw()).hexdigest()


def sign_head(private: bytes, head: str) -> str:
    """Return the signature of a head in hexadecimal.

    Raises:
        BadInput: as for `public_key`.
    """
    return _private(private).sign(_CONTEXT + bytes.fromhex(head)).hex()


def is_signed(public: str, head: str, signature: str) -> bool:
    """Return whether a signature of a head is by the owner of a public key.

    Raises:
        BadInput: as for `fingerprint`.
    """
    key = _public(public)
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(bytes.fromhex(signature), _CONTEXT + bytes.fromhex(head))
    except (InvalidSignature, ValueError):
        return False
    return True


def _private(pem: bytes) -> Ed25519PrivateKey:
    with extra("publish", "a signed board"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadInput("the file is not an Ed25519 private key", do="make one: mirage publish --new-key --key FILE")
    return key


def _public(pem: str) -> Ed25519PublicKey:
    with extra("publish", "a signed board"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(pem.encode("utf-8"))
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise BadInput("this is not an Ed25519 public key", do="use chain/board.pub of the site")
    return key


def _pem(key: Ed25519PublicKey) -> str:
    from cryptography.hazmat.primitives import serialization

    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode("ascii")
