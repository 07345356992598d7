// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";

import {IAgentDelegate} from "./IAgentDelegate.sol";
import {CoSignature, Intent, RouterIntent, UserSignature} from "./RouterIntent.sol";

/// @title Executes sponsored intents of sub-wallets
/// @notice Purpose: swap, deposit, withdraw and buy gas for a sub-wallet while a relayer pays the
/// gas, so that a wallet without native currency can act. The service's fee is taken here, in the
/// input asset, at a rate that the sub-wallet signed and that this contract caps.
///
/// Threat assumptions:
/// - Funds of a sub-wallet move only under two signatures over the same intent: its own
///   (secp256k1) and a co-signer's of the service (P-256). Neither alone suffices here. Each
///   machine of the service has a co-signer key of its own, so that a lost one ends alone.
/// - Relayers are hot keys. A stolen one can pay gas, hold back or cancel intents, and nothing else.
/// - Venues and tokens may call back at any point. No intent runs inside another, all state is
///   written before the first external call, and the account's balances are measured, not believed.
/// - The owner (meant to be a cold multi-signature wallet) chooses co-signers, relayers, venues and
///   fee recipient. It cannot move funds, raise the fee cap, or change this code: there is no proxy.
/// - The guardian is a hot key that can stop everything and start nothing.
/// - This contract holds nothing between calls. Tokens sent to it by mistake stay here for good.
contract AgentRouter is Ownable2Step, Pausable, ReentrancyGuardTransient, IERC5267 {
    using SafeERC20 for IERC20;

    /// @notice A venue's function that intents may call.
    struct AllowedCall {
        address target;
        bytes4 selector;
    }

    /// @notice Point of a P-256 public key.
    struct CoSignerKey {
        bytes32 x;
        bytes32 y;
    }

    struct CoSigner {
        CoSignerKey key;
        /// Unix seconds before which it holds; `UNENDED` until it is ended.
        uint48 until;
    }

    /// @notice Highest fee in basis points: 1 %. A constant, so that no key can raise it.
    uint256 public constant MAX_FEE_BPS = 100;

    /// @notice Longest time in seconds between execution and deadline. An intent that reverted
    /// stays valid until its deadline, so the deadline must be near.
    uint256 public constant MAX_LIFETIME = 10 minutes;

    /// @notice Longest time in seconds for which an ended co-signer key stays valid: long enough
    /// for every intent under it to expire, with room for clocks that differ.
    uint256 public constant MAX_OVERLAP = 1 hours;

    /// @notice `until` of a co-signer key that was not ended.
    uint48 public constant UNENDED = type(uint48).max;

    uint256 private constant BPS = 10_000;

    /// @notice Receives the fees.
    address public feeRecipient;
    /// @notice May pause, nothing else.
    address public guardian;

    /// @notice Unix seconds before which a co-signer key holds, by keccak256(x ‖ y); 0: never one.
    mapping(bytes32 id => uint48 until) public coSignerUntil;
    /// @dev Each that ever was one, once. Only the view walks it.
    CoSignerKey[] private _coSignerKeys;

    mapping(address relayer => bool allowed) public isRelayer;
    mapping(address target => mapping(bytes4 selector => bool allowed)) public isAllowedCall;
    /// @notice Bit `nonce & 255` of word `nonce >> 8` is set once the nonce is used or cancelled.
    mapping(address account => mapping(uint256 word => uint256 bits)) public nonceBitmap;

    event Executed(
        bytes32 indexed digest,
        address indexed account,
        address indexed target,
        uint256 nonce,
        address tokenIn,
        uint256 amountIn,
        uint256 fee,
        address tokenOut,
        uint256 amountOut
    );
    event Cancelled(address indexed account, uint256 nonce);
    event CoSignerAdded(bytes32 x, bytes32 y);
    event CoSignerEnded(bytes32 x, bytes32 y, uint256 until);
    event RelayerAdded(address indexed relayer);
    event RelayerRemoved(address indexed relayer);
    event CallAllowed(address indexed target, bytes4 indexed selector);
    event CallDisallowed(address indexed target, bytes4 indexed selector);
    event FeeRecipientChanged(address feeRecipient);
    event GuardianChanged(address guardian);

    error NotRelayer(address caller);
    error NotGuardian(address caller);
    error NotAllowedToCancel(address caller);
    error IntentExpired(uint256 deadline);
    error DeadlineTooFar(uint256 deadline);
    error FeeTooHigh(uint256 feeBps);
    error InvalidAmounts();
    error SameToken(address token);
    error CallNotAllowed(address target, bytes4 selector);
    error DataMismatch();
    error NotDelegated(address account);
    error InvalidUserSignature();
    error InvalidCoSignature();
    error NonceUsed(address account, uint256 nonce);
    error UnexpectedAmountReceived(address token);
    error InputNotSpent(address token);
    error SlippageExceeded(uint256 amountOut, uint256 minOut);
    error UnexpectedNative();
    error InvalidCoSigner();
    error UnknownCoSigner();
    error EndedCoSigner();
    error OverlapTooLong(uint256 overlap);
    error InvalidTarget(address target);
    error ZeroAddress();
    error OwnershipKept();

    /// @dev No `msg.sender` here: the CREATE2 proxy deploys, and the address must be the same on
    /// every chain. The owner is part of the init code and therefore of the address.
    constructor(address owner_) Ownable(owner_) {
        feeRecipient = owner_;
        guardian = owner_;
    }

    /// @notice Native currency is taken from an account during an intent, and from nobody else.
    receive() external payable {
        require(_reentrancyGuardEntered(), UnexpectedNative());
    }

    /// @notice Executes one intent of a sub-wallet that has delegated to AgentDelegate.
    /// @param data calldata for `intent.target`; must hash to `intent.dataHash`. It spends
    /// `amountIn` less the fee, exactly, and names the account as receiver.
    /// @return smallest units of `tokenOut` by which the account's balance grew
    function execute(
        Intent calldata intent,
        bytes calldata data,
        UserSignature calldata userSignature,
        CoSignature calldata coSignature
    ) external nonReentrant whenNotPaused returns (uint256) {
        require(isRelayer[msg.sender], NotRelayer(msg.sender));
        _checkTerms(intent, data);
        bytes32 digest = RouterIntent.digest(intent, address(this));
        _checkSignatures(intent.account, digest, userSignature, coSignature);
        _useNonce(intent.account, intent.nonce);

        uint256 outBefore = _balanceOf(intent.tokenOut, intent.account);
        uint256 fee = _spend(intent, data, userSignature);
        return _settle(intent, digest, fee, outBefore);
    }

    /// @notice Makes a nonce unusable. Open to the account, and to relayers, because a sub-wallet
    /// may hold no gas; a stolen relayer can thereby refuse service, which it can anyhow.
    /// @dev Reverts when the nonce is used: the canceller learns that it came too late.
    function cancel(address account, uint256 nonce) external {
        require(
            msg.sender == account || isRelayer[msg.sender],
            NotAllowedToCancel(msg.sender)
        );
        _useNonce(account, nonce);
        emit Cancelled(account, nonce);
    }

    /// @notice Ends and adds co-signer keys, in this order.
    /// @param ended keys that were added before; those whose end is near already keep it
    /// @param added keys that hold from now on, such as those of further machines; none that was ended
    /// @param overlap seconds for which the ended ones stay valid; 0 revokes them at once
    function changeCoSigners(
        CoSignerKey[] calldata ended,
        CoSignerKey[] calldata added,
        uint256 overlap
    ) external onlyOwner {
        require(overlap <= MAX_OVERLAP, OverlapTooLong(overlap));
        uint48 until = uint48(block.timestamp + overlap);
        for (uint256 i = 0; i < ended.length; i++) _endCoSigner(ended[i], until);
        for (uint256 i = 0; i < added.length; i++) _addCoSigner(added[i]);
    }

    function addRelayers(address[] calldata relayers) external onlyOwner {
        for (uint256 i = 0; i < relayers.length; i++) {
            isRelayer[relayers[i]] = true;
            emit RelayerAdded(relayers[i]);
        }
    }

    function removeRelayers(address[] calldata relayers) external onlyOwner {
        for (uint256 i = 0; i < relayers.length; i++) {
            isRelayer[relayers[i]] = false;
            emit RelayerRemoved(relayers[i]);
        }
    }

    function allowCalls(AllowedCall[] calldata calls) external onlyOwner {
        for (uint256 i = 0; i < calls.length; i++) {
            address target = calls[i].target;
            require(
                target != address(this) && target.code.length != 0,
                InvalidTarget(target)
            );
            isAllowedCall[target][calls[i].selector] = true;
            emit CallAllowed(target, calls[i].selector);
        }
    }

    function disallowCalls(AllowedCall[] calldata calls) external onlyOwner {
        for (uint256 i = 0; i < calls.length; i++) {
            isAllowedCall[calls[i].target][calls[i].selector] = false;
            emit CallDisallowed(calls[i].target, calls[i].selector);
        }
    }

    function setFeeRecipient(address feeRecipient_) external onlyOwner {
        require(feeRecipient_ != address(0), ZeroAddress());
        feeRecipient = feeRecipient_;
        emit FeeRecipientChanged(feeRecipient_);
    }

    /// @param guardian_ the zero address leaves pausing to the owner
    function setGuardian(address guardian_) external onlyOwner {
        guardian = guardian_;
        emit GuardianChanged(guardian_);
    }

    /// @notice Reverts, for everybody. Without an owner no co-signer, relayer or venue could be ended,
    /// and what the guardian paused would stay paused. Ownership is handed on in two steps.
    function renounceOwnership() public pure override {
        revert OwnershipKept();
    }

    function pause() external {
        require(msg.sender == guardian || msg.sender == owner(), NotGuardian(msg.sender));
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Every key that is or was a co-signer's, with the time until which it holds.
    function coSigners() external view returns (CoSigner[] memory all) {
        all = new CoSigner[](_coSignerKeys.length);
        for (uint256 i = 0; i < all.length; i++) {
            CoSignerKey memory key = _coSignerKeys[i];
            all[i] = CoSigner(key, coSignerUntil[_idOf(key.x, key.y)]);
        }
    }

    /// @notice The digest that both signatures are made over.
    function digestOf(Intent calldata intent) external view returns (bytes32) {
        return RouterIntent.digest(intent, address(this));
    }

    function isNonceUsed(address account, uint256 nonce) external view returns (bool) {
        return nonceBitmap[account][nonce >> 8] & (1 << (nonce & 0xff)) != 0;
    }

    /// @inheritdoc IERC5267
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (
            hex"0f", // name, version, chainId, verifyingContract
            RouterIntent.NAME,
            RouterIntent.VERSION,
            block.chainid,
            address(this),
            bytes32(0),
            new uint256[](0)
        );
    }

    function _checkTerms(Intent calldata intent, bytes calldata data) private view {
        require(block.timestamp <= intent.deadline, IntentExpired(intent.deadline));
        require(
            intent.deadline <= block.timestamp + MAX_LIFETIME,
            DeadlineTooFar(intent.deadline)
        );
        require(intent.feeBps <= MAX_FEE_BPS, FeeTooHigh(intent.feeBps));
        require(intent.amountIn != 0 && intent.minOut != 0, InvalidAmounts());
        require(intent.tokenIn != intent.tokenOut, SameToken(intent.tokenIn));
        require(keccak256(data) == intent.dataHash, DataMismatch());
        // Zero-padded when the calldata is shorter, which the length check refuses.
        bytes4 selector = bytes4(data);
        require(
            data.length >= 4 && isAllowedCall[intent.target][selector],
            CallNotAllowed(intent.target, selector)
        );
        require(intent.account.code.length != 0, NotDelegated(intent.account));
    }

    /// @dev The delegate checks the account's signature as well. It is checked here too so that
    /// `Executed` proves both signatures whatever code the account runs.
    function _checkSignatures(
        address account,
        bytes32 digest,
        UserSignature calldata userSignature,
        CoSignature calldata coSignature
    ) private view {
        (address signer, , ) = ECDSA.tryRecover(digest, userSignature.r, userSignature.vs);
        require(signer == account, InvalidUserSignature());
        // Which key, the co-signature says itself: one look decides, however many there are.
        uint48 until = coSignerUntil[_idOf(coSignature.x, coSignature.y)];
        require(block.timestamp < until && _verify(digest, coSignature), InvalidCoSignature());
    }

    /// @dev P256VERIFY at address 0x100 (EIP-7951, RIP-7212); reverts where it does not exist.
    function _verify(bytes32 digest, CoSignature calldata signature) private view returns (bool) {
        bytes32 message = sha256(abi.encodePacked(digest));
        return
            P256.verifyNative(message, signature.r, signature.s, signature.x, signature.y);
    }

    function _endCoSigner(CoSignerKey calldata key, uint48 until) private {
        bytes32 id = _idOf(key.x, key.y);
        uint48 before = coSignerUntil[id];
        // An unknown one is a slip of the pen, and the key that was meant would go on.
        require(before != 0, UnknownCoSigner());
        if (before <= until) return;
        coSignerUntil[id] = until;
        emit CoSignerEnded(key.x, key.y, until);
    }

    function _addCoSigner(CoSignerKey calldata key) private {
        require(P256.isValidPublicKey(key.x, key.y), InvalidCoSigner());
        bytes32 id = _idOf(key.x, key.y);
        uint48 until = coSignerUntil[id];
        if (until == UNENDED) return;
        // A revocation is for good: no slip, and no owner with an old list, brings a stolen key back.
        require(until == 0, EndedCoSigner());
        _coSignerKeys.push(key);
        coSignerUntil[id] = UNENDED;
        emit CoSignerAdded(key.x, key.y);
    }

    function _idOf(bytes32 x, bytes32 y) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(x, y));
    }

    function _useNonce(address account, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 bits = nonceBitmap[account][nonce >> 8];
        require(bits & bit == 0, NonceUsed(account, nonce));
        nonceBitmap[account][nonce >> 8] = bits | bit;
    }

    /// @dev Pulls the input, takes the fee, has the venue spend the rest to the last unit.
    function _spend(
        Intent calldata intent,
        bytes calldata data,
        UserSignature calldata userSignature
    ) private returns (uint256 fee) {
        address token = intent.tokenIn;
        uint256 held = _balanceOf(token, address(this));
        IAgentDelegate(intent.account).pull(intent, userSignature);
        // Tokens that keep a part of each transfer would leave the venue short.
        require(
            _balanceOf(token, address(this)) == held + intent.amountIn,
            UnexpectedAmountReceived(token)
        );

        fee = (intent.amountIn * intent.feeBps) / BPS;
        uint256 amount = intent.amountIn - fee;
        if (token == RouterIntent.NATIVE) {
            if (fee != 0) Address.sendValue(payable(feeRecipient), fee);
            Address.functionCallWithValue(intent.target, data, amount);
        } else {
            if (fee != 0) IERC20(token).safeTransfer(feeRecipient, fee);
            _callWithAllowance(IERC20(token), intent.target, data, amount);
        }
        require(_balanceOf(token, address(this)) == held, InputNotSpent(token));
    }

    /// @dev Believes the account's balance, not what the venue returned.
    function _settle(
        Intent calldata intent,
        bytes32 digest,
        uint256 fee,
        uint256 outBefore
    ) private returns (uint256 amountOut) {
        uint256 outAfter = _balanceOf(intent.tokenOut, intent.account);
        amountOut = outAfter > outBefore ? outAfter - outBefore : 0;
        require(amountOut >= intent.minOut, SlippageExceeded(amountOut, intent.minOut));
        emit Executed(
            digest,
            intent.account,
            intent.target,
            intent.nonce,
            intent.tokenIn,
            intent.amountIn,
            fee,
            intent.tokenOut,
            amountOut
        );
    }

    /// @dev A vault burns its own shares from the caller and needs no allowance over them.
    function _callWithAllowance(
        IERC20 token,
        address target,
        bytes calldata data,
        uint256 amount
    ) private {
        if (target == address(token)) {
            Address.functionCall(target, data);
            return;
        }
        token.forceApprove(target, amount);
        Address.functionCall(target, data);
        if (token.allowance(address(this), target) != 0) token.forceApprove(target, 0);
    }

    function _balanceOf(address token, address account) private view returns (uint256) {
        return
            token == RouterIntent.NATIVE ? account.balance : IERC20(token).balanceOf(account);
    }
}
