;;; foldline.el --- Prompts as a model sees them -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools

;;; Commentary:

;; `M-x eglot' in a Python file, then `M-x foldline-trust' once a session and
;; `M-x foldline-preview': the prompt as a model sees it, which follows every
;; edit.  In it RET goes to the source, `o' opens a section, `c' closes one,
;; `u' takes the last step back and `q' buries it.  `M-x foldline-outline'
;; shows the outline of a file.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'subr-x)
(require 'url-parse)
(require 'url-util)

(add-to-list 'eglot-server-programs
             '((python-mode python-ts-mode) "foldline" "serve" "--stdio"))

(defvar-local foldline--server nil "The server of this preview.")
(defvar-local foldline--state nil "What the server said last of this preview.")
(defvar-local foldline--blocks nil "The blocks of this preview, by their ids.")
(defvar-local foldline--source nil "The file of this outline.")

;;;; The server

(defun foldline--current-server ()
  "The server of this buffer."
  (or foldline--server (eglot-current-server)
      (user-error "No server is running here: M-x eglot")))

(defun foldline--ask (command &rest argument)
  "What the server answers to COMMAND with the properties ARGUMENT."
  (let ((server (foldline--current-server)))
    ;; Edits are sent when Emacs is idle; the answer is to be about the text as it is now.
    (when (eglot-managed-p) (eglot--signal-textDocument/didChange))
    (condition-case failure
        (jsonrpc-request server :workspace/executeCommand
                         `(:command ,(concat "foldline.server." command)
                           :arguments [,(or argument (make-hash-table))])
                         ;; The server ends what takes longer than its own deadline.
                         :timeout 60)
      (jsonrpc-error
       (let ((said (and (listp (cdr failure)) (cl-remove-if-not #'consp (cdr failure)))))
         (user-error "%s" (or (alist-get 'jsonrpc-error-message said)
                              (error-message-string failure))))))))

(defun foldline--uri ()
  "The address of the file in this buffer."
  (unless buffer-file-name (user-error "This buffer has no file"))
  (concat "file://" (url-hexify-string (file-truename buffer-file-name)
                                       url-path-allowed-chars)))

(defun foldline--path (uri)
  "The path of the file at URI."
  (decode-coding-string
   (url-unhex-string (url-filename (url-generic-parse-url uri))) 'utf-8))

;;;###autoload
(defun foldline-trust ()
  "Let this project's code be executed for previews, until Emacs ends."
  (interactive)
  (when (yes-or-no-p "Previews run the Python code of this project.  Trust it? ")
    (jsonrpc-notify (foldline--current-server) :foldline/didChangeTrust '(:trusted t))))

;;;; Previews

(defvar foldline-preview-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'foldline-go-to-source)
    (define-key map "o" #'foldline-open-section)
    (define-key map "c" #'foldline-close-section)
    (define-key map "u" #'foldline-undo)
    (define-key map "n" #'foldline-next-section)
    (define-key map "p" #'foldline-previous-section)
    map)
  "The keys of previews.")

(define-derived-mode foldline-preview-mode special-mode "Foldline"
  "A prompt as a model sees it."
  (setq-local revert-buffer-function (lambda (&rest _) (foldline--draw)))
  (add-hook 'kill-buffer-hook #'foldline--close nil t)
  (visual-line-mode 1))

;;;###autoload
(defun foldline-preview ()
  "Show this file's prompt as the model sees it; it follows every edit."
  (interactive)
  (let ((server (foldline--current-server))
        (state (foldline--ask "prompt.preview" :uri (foldline--uri))))
    (with-current-buffer (get-buffer-create "*foldline*")
      (foldline--close)
      (foldline-preview-mode)
      (setq foldline--server server
            foldline--blocks (make-hash-table :test 'equal))
      (foldline--take state)
      (goto-char (point-min))
      (display-buffer (current-buffer)))))

(defun foldline--close ()
  "End the preview of this buffer, if it has one."
  (when (and foldline--state (jsonrpc-running-p foldline--server))
    (jsonrpc-async-request
     foldline--server :workspace/executeCommand
     `(:command "foldline.server.prompt.closePreview"
       :arguments [(:sessionId ,(plist-get foldline--state :sessionId))])
     :success-fn #'ignore :error-fn #'ignore)
    (setq foldline--state nil)))

(cl-defmethod eglot-handle-notification
  (server (_method (eql foldline/preview/didUpdate)) &rest update)
  "Take what SERVER says has changed: UPDATE has the new blocks and the order."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (eq server foldline--server)
                 (equal (plist-get update :sessionId)
                        (plist-get foldline--state :sessionId)))
        (foldline--take update)))))

(defun foldline--take (state)
  "Take over STATE, the whole of this preview or what changed of it."
  (setq foldline--state state)
  (seq-doseq (block (plist-get state :blocks))
    (puthash (plist-get block :id) block foldline--blocks))
  (foldline--draw))

(defun foldline--draw ()
  "Show this preview; point and windows keep their places."
  (let* ((inhibit-read-only t)
         (blocks (mapcar (lambda (id) (gethash id foldline--blocks))
                         (plist-get foldline--state :order)))
         (text (mapconcat (lambda (block) (plist-get block :text)) blocks "")))
    (let ((fresh (generate-new-buffer " *foldline text*")))
      (with-current-buffer fresh (insert text))
      (replace-buffer-contents fresh 1)
      (kill-buffer fresh))
    (let ((start (point-min)))
      (dolist (block blocks)
        (let ((end (+ start (length (plist-get block :text)))))
          (set-text-properties start end `(foldline-block ,(plist-get block :id)))
          (save-excursion
            (goto-char start)
            (put-text-property start (min end (line-end-position)) 'face 'bold))
          (setq start end))))
    (setq header-line-format (replace-regexp-in-string "%" "%%" (foldline--header)))))

(defun foldline--header ()
  "What this preview costs, or why it is not the newest text."
  (let ((name (plist-get foldline--state :name))
        (stale (plist-get foldline--state :stale))
        (tokens (plist-get foldline--state :tokens))
        (made-up (length (plist-get foldline--state :generated))))
    (cond
     ((equal (plist-get stale :kind) "untrusted")
      "not trusted, so not executed: M-x foldline-trust")
     (stale (format "%s · %s" (plist-get stale :message) name))
     (t (string-join
         (delq nil (list name
                         (and tokens (format "%d tokens" (plist-get tokens :total)))
                         (and (> made-up 0) (format "%d values made up" made-up))))
         " · ")))))

(defun foldline--preview-buffer ()
  "The buffer that shows the preview, which is made where there is none."
  (let ((buffer (get-buffer "*foldline*")))
    (unless (and buffer (buffer-local-value 'foldline--state buffer))
      (foldline-preview))
    (get-buffer "*foldline*")))

(defun foldline--step (command &rest argument)
  "Change what the preview shows by COMMAND with the properties ARGUMENT."
  (with-current-buffer (foldline--preview-buffer)
    (foldline--take (apply #'foldline--ask command
                           :sessionId (plist-get foldline--state :sessionId) argument))))

(defun foldline-open-section (key)
  "Open the section KEY in the preview, beside those that are open."
  (interactive (list (completing-read "Open section: " (foldline--keys) nil nil
                                      (foldline--key-here "SUMMARY"))))
  (foldline--step "prompt.openSections" :section_keys (vector key)))

(defun foldline-close-section (key)
  "Close the section KEY, which was opened in the preview."
  (interactive (list (completing-read "Close section: " (foldline--opened) nil t)))
  (foldline--step "prompt.closeSections" :section_keys (vector key)))

(defun foldline-undo ()
  "Take back the last step of the preview."
  (interactive)
  (foldline--step "prompt.undo"))

(defun foldline--shown ()
  "The blocks of the preview, in their order."
  (with-current-buffer (foldline--preview-buffer)
    (mapcar (lambda (id) (gethash id foldline--blocks))
            (plist-get foldline--state :order))))

(defun foldline--opened ()
  "The keys of the sections that were opened in the preview."
  (mapcar (lambda (block) (plist-get block :key))
          (cl-remove-if-not (lambda (block) (eq (plist-get block :opened) t))
                            (foldline--shown))))

(defun foldline--keys ()
  "The keys of all summarized sections of the preview, also of those inside others."
  (with-current-buffer (foldline--preview-buffer)
    (let* ((opened (foldline--opened))
           (name (plist-get foldline--state :name))
           (prompts (foldline--ask "prompt.list" :uri (plist-get foldline--state :uri)))
           (prompt (seq-find (lambda (one) (equal (plist-get one :name) name)) prompts))
           (waiting (append (plist-get prompt :sections) nil))
           keys)
      (while waiting
        (let ((section (pop waiting)))
          (when (equal (plist-get section :visibility) "SUMMARY")
            (push (plist-get section :key) keys))
          (setq waiting (append (plist-get section :children) waiting))))
      (cl-set-difference (nreverse keys) opened :test #'equal))))

(defun foldline--key-here (visibility)
  "The key of the section at point, if it has that VISIBILITY."
  (when-let* ((id (get-text-property (point) 'foldline-block))
              (block (and foldline--blocks (gethash id foldline--blocks))))
    (and (equal (plist-get block :visibility) visibility) (plist-get block :key))))

(defun foldline-go-to-source ()
  "Go to the source of the section at point."
  (interactive)
  (let* ((id (get-text-property (point) 'foldline-block))
         (location (and id (plist-get (gethash id foldline--blocks) :location))))
    (unless location (user-error "The source of this section is not known"))
    (let ((start (plist-get (plist-get location :range) :start)))
      (foldline--go-to (foldline--path (plist-get location :uri))
                       (1+ (plist-get start :line))))))

(defun foldline--go-to (file line)
  "Show LINE of FILE in another window."
  (pop-to-buffer (find-file-noselect file))
  (goto-char (point-min))
  (forward-line (1- line))
  (back-to-indentation))

(defun foldline-next-section ()
  "Go to the next section of the preview."
  (interactive)
  (goto-char (next-single-property-change (point) 'foldline-block nil (point-max))))

(defun foldline-previous-section ()
  "Go to the start of the section, or to the one before."
  (interactive)
  (goto-char (previous-single-property-change (point) 'foldline-block nil (point-min))))

;;;; Code

(defvar foldline-outline-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'foldline-go-to-line)
    map)
  "The keys of outlines.")

(define-derived-mode foldline-outline-mode special-mode "Foldline Outline"
  "The outline of a file."
  (setq truncate-lines t))

;;;###autoload
(defun foldline-outline ()
  "Show the outline of this file; RET goes to the source."
  (interactive)
  (let ((text (plist-get (foldline--ask "code.outline" :uri (foldline--uri) :budget 100000)
                         :text))
        (file buffer-file-name))
    (with-current-buffer (get-buffer-create "*foldline outline*")
      (foldline-outline-mode)
      (setq foldline--source file)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text)
        (goto-char (point-min)))
      (display-buffer (current-buffer)))))

(defun foldline-go-to-line ()
  "Go to the source of the line at point."
  (interactive)
  (let ((line (save-excursion
                (beginning-of-line)
                (and (looking-at "\\s-*\\([0-9]+\\)") (string-to-number (match-string 1))))))
    (unless line (user-error "This line has no place in the source"))
    (foldline--go-to foldline--source line)))

(provide 'foldline)
;;; foldline.el ends here
